/** `GET /console/operators`: who may operate the service, and what each role may do. */
import type { OperatorRole } from "../../domain/operators.ts";
import { factory } from "../../http/context.ts";
import type { Services } from "../../http/services.ts";
import { readOperators } from "../../operator/read_operators.ts";
import { credits } from "../layout/labels.ts";
import { ConsolePage } from "./console_page.tsx";
import { currentShell } from "../layout/shell.ts";
import { Details, Panel } from "./panel.tsx";
import { Table } from "./table.tsx";

export const showOperators = factory.createHandlers((context) =>
  context.html(<OperatorsPage services={context.get("services")} />),
);

function OperatorsPage({ services }: { services: Services }) {
  const { support_credits_max } = services.config;
  const rights: Readonly<Record<OperatorRole, string>> = {
    viewer: "Sees everything in the console, and changes nothing.",
    support: `Also suspends and restores accounts, signs people out, revokes connections and tokens, refunds jobs, and gives or takes up to ${credits(support_credits_max)} a day in all.`,
    admin: "May do everything.",
  };
  const { operator_role } = currentShell();
  return (
    <ConsolePage title="Operators" section="operators">
      <div class="columns">
        <section class="panel" aria-label="Operators">
          <p class="hint">
            The setting <code>OPERATORS</code> names them, each with a role.
          </p>
          <Table
            label="Operators"
            columns={["Person", "Role"]}
            rows={readOperators(services).map(({ entry, role, problem }) => [
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
          <Details
            facts={Object.entries(rights).map(([role, text]) => [
              <>
                {role}
                {role === operator_role ? <span class="tag">You</span> : null}
              </>,
              text,
            ])}
          />
        </Panel>
      </div>
    </ConsolePage>
  );
}
