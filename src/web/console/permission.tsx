/** Shows what the operator's role may do, and says which role the rest requires. */
import type { PropsWithChildren } from "hono/jsx";
import { includesRole, type OperatorRole } from "../../domain/operators.ts";
import { currentShell } from "../layout/shell.ts";

/** Whether the operator who sees the page has this role. The route of each action checks it again. */
export function mayAct(needed: OperatorRole): boolean {
  const { operator_role } = currentShell();
  return operator_role !== null && includesRole(operator_role, needed);
}

/** The children if the role suffices; otherwise a text that names the role. */
export function ForRole(
  props: PropsWithChildren<{ readonly role: OperatorRole; readonly action: string }>,
) {
  const { role, action, children } = props;
  if (mayAct(role)) return <>{children}</>;
  return (
    <span class="hint">
      {action} requires the role <a href="/console/operators">{role}</a>.
    </span>
  );
}
