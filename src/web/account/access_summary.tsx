/** The most recent users of the account and their spending, with a link to everything that has access. */
import type { AccessList } from "../../http/allowances/access_list.ts";
import { rich, t } from "../language/text.tsx";
import type { AppLooks } from "../layout/app_icon.tsx";
import { counted, number } from "../layout/labels.ts";
import { isOnlyThisBrowser, LastUse, signInServicesText } from "./access_page.tsx";

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
        <h2 id="access-name">{t("Access")}</h2>
        <a href="/account/access">{t("See all and stop")}</a>
      </div>
      {users.length === 0 ? (
        <p class="hint">
          {isOnlyThisBrowser(access)
            ? t(
                "Only this browser can use your account, with the apps in which you signed in here. Nothing else has access.",
              )
            : signInServicesText(access) ||
              t("No app, connection or token can use your account by itself now.")}{" "}
          {rich("To add a device, {enter}, or {make}.", {
            enter: <a href="/device">{t("enter the code that it shows")}</a>,
            make: <a href="/account/tokens/new">{t("make a token")}</a>,
          })}
        </p>
      ) : (
        <ul class="rows">
          {users.slice(0, SHOWN).map(({ anchor, name, spent_this_month, last_used_at_ms }) => (
            <li>
              <span>
                <a href={`/account/access#${anchor}`}>{name}</a>
                <span class="hint below">
                  <LastUse at_ms={last_used_at_ms} never={t("never used")} />
                </span>
              </span>
              <span class="hint">
                {spent_this_month === null
                  ? t("not added up")
                  : t("{count} spent this month", { count: number(spent_this_month) })}
              </span>
            </li>
          ))}
        </ul>
      )}
      {more > 0 || others > 0 ? (
        <p class="hint">
          {t("And {others}.", {
            others: [
              more > 0 ? t("{count} more", { count: number(more) }) : null,
              others > 0 ? counted(others, "other browser", "other browsers") : null,
            ]
              .filter((it) => it !== null)
              .join(", "),
          })}
        </p>
      ) : null}
    </section>
  );
}
