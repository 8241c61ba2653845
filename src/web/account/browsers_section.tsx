/** The signed-in browsers, each with a button to end its sessions, and the page that asks before. */
import { rich, t } from "../language/text.tsx";
import { ConfirmPage } from "../layout/confirm_page.tsx";
import { counted, programText } from "../layout/labels.ts";
import { Time } from "../layout/time.tsx";
import type { ListedBrowser } from "../../http/allowances/access_list.ts";
import { groupSessions, type SessionGroup } from "./session_groups.ts";

/** Groups that are shown at once; the others are folded. */
const GROUPS_SHOWN = 3;

export function Browsers({ browsers }: { browsers: readonly ListedBrowser[] }) {
  const groups = groupSessions(browsers);
  const folded = groups.slice(GROUPS_SHOWN);
  return (
    <section class="panel" id="browsers" aria-labelledby="browsers-name">
      <h2 id="browsers-name">{t("Browsers")}</h2>
      <Groups groups={groups.slice(0, GROUPS_SHOWN)} />
      {folded.length === 0 ? null : (
        <details>
          <summary>{counted(folded.length, "more browser", "more browsers")}</summary>
          <Groups groups={folded} />
        </details>
      )}
      <form method="post" action="/account/signout-everywhere" class="acts">
        <label class="choice">
          <input type="checkbox" name="personal_tokens" value="end" />{" "}
          {t("Also revoke all connections and tokens")}
        </label>
        <button type="submit" class="quiet small">
          {t("Sign out everywhere")}
        </button>
      </form>
      <p class="hint">
        {t(
          "This signs out every browser, including this one. Open apps notice within 15 minutes. Tokens, and connections that may stay connected, keep their access unless you tick the box; those that you approved through an app’s sign-in always lose it. Apps keep theirs until you stop them.",
        )}
      </p>
    </section>
  );
}

function Groups({ groups }: { groups: readonly SessionGroup[] }) {
  return (
    <ul class="rows">
      {groups.map((group) => (
        <Group {...group} />
      ))}
    </ul>
  );
}

function nameOf({ browser, current }: Pick<SessionGroup, "browser" | "current">): string {
  if (browser === null) return current ? t("This browser") : t("A browser");
  return programText(browser);
}

function Group(group: SessionGroup) {
  const { current, browser, place, sessions, signed_in_at_ms, last_used_at_ms } = group;
  const name = nameOf(group);
  const others = sessions.filter((session) => !session.current);
  const time = <Time at_ms={signed_in_at_ms} style="clock" />;
  return (
    <li>
      <span>
        <strong>{name}</strong>
        {current && browser !== null ? <span class="tag">{t("this browser")}</span> : null}
        <span class="hint below">
          {place === null ? null : <>{place} · </>}
          {sessions.length === 1
            ? rich("signed in {time}", { time })
            : rich("{sign_ins}, the last {time}", {
                sign_ins: counted(sessions.length, "sign-in", "sign-ins"),
                time,
              })}
          {current ? null : <LastUse {...{ signed_in_at_ms, last_used_at_ms }} />}
        </span>
      </span>
      {others.length === 0 ? null : (
        <form method="get" action="/account/end-session">
          {others.map(({ id }) => (
            <input type="hidden" name="session_id" value={id} />
          ))}
          <button type="submit" class="quiet small">
            {current
              ? t("End {count}", { count: counted(others.length, "other", "others") })
              : t("End")}
            <span class="unseen">{`: ${t("sessions of {name}", { name })}`}</span>
          </button>
        </form>
      )}
    </li>
  );
}

/** Only the day of the last use is known. */
function LastUse(props: Pick<SessionGroup, "signed_in_at_ms" | "last_used_at_ms">) {
  const { signed_in_at_ms, last_used_at_ms } = props;
  if (last_used_at_ms <= signed_in_at_ms) return null;
  return <> · {rich("used {day}", { day: <Time at_ms={last_used_at_ms} style="date" /> })}</>;
}

/** `sessions`: the ones to end; there is at least one. */
export function EndSessionsPage(props: {
  readonly sessions: readonly ListedBrowser[];
  /** How many tokens and connections were approved there. */
  readonly approved: number;
}) {
  const { sessions, approved } = props;
  const count = counted(sessions.length, "session", "sessions");
  return (
    <ConfirmPage
      title={t("End {count}?", { count })}
      section="access"
      path="/account/end-session"
      fields={sessions.map(({ id }) => ["session_id", id] as const)}
      button={t("End {count}", { count })}
      cancel_path="/account/access#browsers"
    >
      <ul class="rows">
        {sessions.map((session) => (
          <li>
            <span>
              <strong>{nameOf(session)}</strong>
              <span class="hint below">
                {session.place === null ? null : <>{session.place} · </>}
                {rich("signed in {time}", { time: <Time at_ms={session.created_at_ms} /> })}
              </span>
            </span>
          </li>
        ))}
      </ul>
      <p>
        {sessions.length === 1
          ? t("That browser has to sign in again.")
          : t("Those browsers have to sign in again.")}{" "}
        {t("Open apps notice within 15 minutes.")}
      </p>
      {approved === 0 ? null : (
        <label class="choice">
          <input type="checkbox" name="personal_tokens" value="end" />
          <span>
            {t("Also revoke {count} approved there", {
              count: counted(approved, "connection or token", "connections and tokens"),
            })}
          </span>
        </label>
      )}
    </ConfirmPage>
  );
}
