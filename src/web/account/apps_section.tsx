/** The apps that the person has used, and which of them may use the person's credits on their own. */
import type { AppRow } from "../../account/contract.ts";
import { Time } from "../layout/time.tsx";
import { counted } from "../layout/labels.ts";

/** The most apps without access that the page lists, after those with access. */
const OTHERS_MAX = 50;

export interface AppsProps {
  readonly apps: readonly AppRow[];
  /** Whether apps may still give starter credits. */
  readonly takes_starters: boolean;
  readonly appName: (slug: string | null) => string;
}

export function Apps({ apps, takes_starters, appName }: AppsProps) {
  if (apps.length === 0) return <div id="apps" data-live></div>;
  const connected = apps.filter(({ access }) => access === "open");
  const others = apps.filter(({ access }) => access !== "open").slice(0, OTHERS_MAX);
  return (
    <section class="panel" id="apps" data-live aria-labelledby="apps-name">
      <h2 id="apps-name">Your apps</h2>
      <ul class="rows">
        {[...connected, ...others].map((app) => (
          <App app={app} takes_starters={takes_starters} name={appName(app.slug)} />
        ))}
      </ul>
      <p class="hint">
        A connected app can use your credits for its own jobs, even while you are away. If you
        disconnect it, it can no longer start jobs on its own. Jobs that it has already started can
        still finish.
      </p>
    </section>
  );
}

function App(props: {
  readonly app: AppRow;
  readonly takes_starters: boolean;
  readonly name: string;
}) {
  const { app, takes_starters, name } = props;
  const { slug, starter_credits, granted_at_ms, access } = app;
  return (
    <li>
      <span>
        <a href={`/account/jobs?app=${slug}`}>{name}</a>
        {access === "disconnected" ? <span class="tag">disconnected</span> : null}
        <span class="hint below">
          {granted_at_ms !== null ? (
            <>
              {counted(starter_credits, "starter credit", "starter credits")},{" "}
              <Time at_ms={granted_at_ms} style="day" />
            </>
          ) : takes_starters ? (
            "No starter credits yet"
          ) : (
            "No starter credits"
          )}
        </span>
      </span>
      {access === "none" ? null : (
        <form method="post" action="/account/app-access">
          <input type="hidden" name="app" value={slug} />
          <input type="hidden" name="access" value={access === "open" ? "disconnected" : "open"} />
          <button type="submit" class="quiet small">
            {access === "open" ? "Disconnect" : "Connect again"}
            <span class="unseen">{` ${name}`}</span>
          </button>
        </form>
      )}
    </li>
  );
}
