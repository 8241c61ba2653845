/** The list of operators, and what their roles may do. */
import type { OperatorRole } from "../../domain/operators.ts";
import type { readOperators } from "../../http/api/admin/list_operators.ts";
import { credits } from "../layout/labels.ts";
import { Page } from "../layout/layout.tsx";
import { currentShell } from "../layout/shell.ts";
import { Panel } from "./panel.tsx";
import { Table } from "./table.tsx";

interface OperatorsPageProps {
  readonly operators: ReturnType<typeof readOperators>;
  readonly support_credits_max: number;
}

export function OperatorsPage({ operators, support_credits_max }: OperatorsPageProps) {
  const rights: Readonly<Record<OperatorRole, string>> = {
    viewer: "Sees everything in the console, and changes nothing.",
    support: `Also suspends and restores accounts, signs people out, revokes personal tokens, and gives or takes up to ${credits(support_credits_max)} a day in all.`,
    admin: "May do everything.",
  };
  const { operator_role } = currentShell();
  return (
    <Page title="Operators" section="operators">
      <div class="page-head">
        <h1>Operators</h1>
      </div>
      <div class="columns">
        <section class="panel" aria-label="Operators">
          <p class="hint">
            The setting <code>OPERATORS</code> names them, each with a role.
          </p>
          <Table
            label="Operators"
            columns={["Person", "Role"]}
            rows={operators.map(({ entry, role, problem }) => [
              <>
                <code>{entry}</code>
                {problem === null ? null : (
                  <span class="hint below">This entry names nobody. {problem}</span>
                )}
              </>,
              role,
            ])}
            empty=""
          />
        </section>
        <Panel id="roles" title="Roles">
          <dl class="details">
            {Object.entries(rights).map(([role, text]) => (
              <div>
                <dt>
                  {role}
                  {role === operator_role ? <span class="tag">You</span> : null}
                </dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </Panel>
      </div>
    </Page>
  );
}
