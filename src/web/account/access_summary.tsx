/** The most recent users of the account and their spending, with a link to everything that has access. */
import type { AccessList } from "../../http/allowances/access_list.ts";
import type { AppLooks } from "../layout/app_icon.tsx";
import { counted, number } from "../layout/labels.ts";
import { isOnlyThisBrowser, LastUse } from "./access_page.tsx";

const SHOWN = 3;

interface AccessSummaryProps {
  readonly access: AccessList;
  readonly appLook: AppLooks;
}

export function AccessSummary({ access, appLook }: AccessSummaryProps) {
  const { apps, allowances, browsers } = access;
  const roots = allowances.filter(({ parent_id }) => parent_id === null);
  const open = apps.filter(({ state }) => state === "open");
  const users = [
    ...open.map((app) => ({ ...app, anchor: `app-${app.slug}`, name: appLook(app.slug).name })),
    ...roots.map((root) => ({ ...root, anchor: root.id, name: root.label })),
  ].toSorted((one, other) => (other.last_used_at_ms ?? 0) - (one.last_used_at_ms ?? 0));
  const more = users.length - SHOWN;
  const others = browsers.filter(({ current }) => !current).length;
  return (
    <section class="panel" id="access" data-live aria-labelledby="access-name">
      <div class="panel-head">
        <h2 id="access-name">Access</h2>
        <a href="/account/access">See all and stop</a>
      </div>
      {users.length === 0 ? (
        <p class="hint">
          {isOnlyThisBrowser(access)
            ? "Only this browser can use your account. Nothing else has access."
            : "No app, connection or token can use your account now."}{" "}
          To add a device, <a href="/device">enter the code that it shows</a>, or{" "}
          <a href="/account/tokens/new">make a token</a>.
        </p>
      ) : (
        <ul class="rows">
          {users.slice(0, SHOWN).map(({ anchor, name, spent_this_month, last_used_at_ms }) => (
            <li>
              <span>
                <a href={`/account/access#${anchor}`}>{name}</a>
                <span class="hint below">
                  <LastUse at_ms={last_used_at_ms} never="never used" />
                </span>
              </span>
              <span class="hint">
                {spent_this_month === null
                  ? "not added up"
                  : `${number(spent_this_month)} spent this month`}
              </span>
            </li>
          ))}
        </ul>
      )}
      {more > 0 || others > 0 ? (
        <p class="hint">
          And{" "}
          {[
            more > 0 ? `${number(more)} more` : null,
            others > 0 ? counted(others, "other browser", "other browsers") : null,
          ]
            .filter((it) => it !== null)
            .join(", ")}
          .
        </p>
      ) : null}
    </section>
  );
}
