/** The browsers that are signed in, each with a way to end it. */
import type { ListedSession } from "../../identity/port.ts";
import { Time } from "../layout/time.tsx";
import { counted } from "../layout/account_words.ts";

/** A session as the page shows it; `current` is the one that looks. */
export interface ShownSession extends Omit<ListedSession, "city" | "country"> {
  /** In words. */
  readonly place: string | null;
  readonly current: boolean;
  /** How many devices and tokens have their access from it. */
  readonly approved_tokens: number;
}

export function Sessions({ sessions }: { sessions: readonly ShownSession[] }) {
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
          <input type="checkbox" name="personal_tokens" value="end" /> End the access of devices and
          tokens too
        </label>
        <button type="submit" class="quiet small">
          Sign out everywhere
        </button>
      </form>
      <p class="hint">
        Ends every browser here, this one too. Apps that are open follow within 15 minutes. Devices
        and tokens go on unless you tick the box; what you approved with an app’s sign-in always
        ends with it.
      </p>
    </section>
  );
}

function Session(session: ShownSession) {
  const { id, current, browser, place, approved_tokens, created_at_ms, last_used_at_ms } = session;
  const name = browser ?? (current ? "This browser" : "A browser");
  return (
    <li>
      <span>
        <strong>{name}</strong>
        {current && browser !== null ? <span class="tag">this one</span> : null}
        <span class="hint below">
          {place === null ? null : <>{place} · </>}
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
              {`End ${counted(approved_tokens, "device or token", "devices and tokens")} too`}
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
