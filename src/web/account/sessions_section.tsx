/** The signed-in browsers, each with a button to end its session. */
import type { ListedSession } from "../../identity/port.ts";
import { Time } from "../layout/time.tsx";
import { counted } from "../layout/labels.ts";

export interface SessionItem extends Omit<ListedSession, "city" | "country"> {
  readonly location: string | null;
  /** Whether it is the session of this request. */
  readonly current: boolean;
  /** How many personal tokens it approved. */
  readonly approved_tokens: number;
}

export function Sessions({ sessions }: { sessions: readonly SessionItem[] }) {
  return (
    <section class="panel" aria-labelledby="sessions">
      <h2 id="sessions">Signed-in browsers</h2>
      <ul class="rows">
        {sessions.map((session) => (
          <Session {...session} />
        ))}
      </ul>
      <form method="post" action="/account/signout-everywhere" class="acts">
        <label class="choice">
          <input type="checkbox" name="personal_tokens" value="end" /> Also revoke all devices and
          tokens
        </label>
        <button type="submit" class="quiet small">
          Sign out everywhere
        </button>
      </form>
      <p class="hint">
        This signs out every browser, including this one. Open apps notice within 15 minutes.
        Devices and tokens keep their access unless you tick the box; those that you approved
        through an app’s sign-in always lose it.
      </p>
    </section>
  );
}

function Session(session: SessionItem) {
  const { id, current, browser, location, approved_tokens, created_at_ms, last_used_at_ms } =
    session;
  const name = browser ?? (current ? "This browser" : "A browser");
  return (
    <li>
      <span>
        <strong>{name}</strong>
        {current && browser !== null ? <span class="tag">this browser</span> : null}
        <span class="hint below">
          {location === null ? null : <>{location} · </>}
          {current ? "now" : <LastUse at_ms={last_used_at_ms ?? created_at_ms} />}
          {" · signed in "}
          <Time at_ms={created_at_ms} style="date" />
        </span>
      </span>
      {current ? null : (
        <form method="post" action="/account/end-session">
          <input type="hidden" name="session_id" value={id} />
          {approved_tokens === 0 ? null : (
            <label class="choice">
              <input type="checkbox" name="personal_tokens" value="end" />{" "}
              {`Also revoke ${counted(approved_tokens, "device or token", "devices and tokens")}`}
            </label>
          )}
          <button type="submit" class="quiet small">
            End<span class="unseen">{` the session of ${name}`}</span>
          </button>
        </form>
      )}
    </li>
  );
}

function LastUse({ at_ms }: { at_ms: number }) {
  return (
    <>
      last used <Time at_ms={at_ms} style="date" />
    </>
  );
}
