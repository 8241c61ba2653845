/** The device page's markup: enter a code, compare it and decide, and how that ended. */
import type { Child } from "hono/jsx";
import { CAP_PERIODS } from "../domain/access_token.ts";
import { COST_MAX_CREDITS, USER_CODE_INPUT_MAX_LENGTH } from "../domain/limits.ts";
import { Page } from "./layout.tsx";

/** A login to decide. What the asker says of itself is null where it says nothing. */
export interface ConfirmProps {
  /** As people read it. */
  readonly user_code: string;
  /** Whose account it will be, as the person knows it: address or name; null where neither is known. */
  readonly approver: string | null;
  readonly client_name: string | null;
  readonly app_slug: string | null;
  /** The name under which the operators know the app; null where they do not. */
  readonly app_name: string | null;
  readonly program: string | null;
  readonly place: string | null;
  /** Whether the login was started in another country than the approver is in. */
  readonly another_country: boolean;
  readonly started_at: Date;
  readonly age_minutes: number;
  readonly token_days: number;
  /** What is wrong with the limits that were just sent. */
  readonly problem: string | null;
}

export type DevicePageState =
  | { readonly kind: "enter" }
  | ({ readonly kind: "confirm" } & ConfirmProps)
  | { readonly kind: "approved" }
  | { readonly kind: "denied" }
  | { readonly kind: "was_denied" }
  | { readonly kind: "expired" }
  | { readonly kind: "used" }
  | { readonly kind: "unknown" }
  | { readonly kind: "too_many_attempts" }
  | { readonly kind: "refused"; readonly problem: string };

export function DevicePage({ state }: { state: DevicePageState }) {
  switch (state.kind) {
    case "enter":
      return (
        <Page title="Connect a device">
          <h1>Connect a device</h1>
          <p>Enter the code that your device shows.</p>
          <CodeForm />
        </Page>
      );
    case "confirm":
      return <Confirm {...state} />;
    case "approved":
      return (
        <Ending title="Device connected">
          <p>Go back to your device: it signs in by itself within a few seconds.</p>
          <p class="hint">
            You can close this window, or see <a href="/account/tokens">your devices and tokens</a>.
          </p>
        </Ending>
      );
    case "denied":
      return (
        <Ending title="Request denied">
          <p>Nothing was connected, and this code cannot be used any more.</p>
          <p>
            If somebody sent you this code, tell them nothing else: they may be trying to get into
            your account.
          </p>
        </Ending>
      );
    case "was_denied":
      return (
        <Retry title="This request was denied">
          <p>Nothing was connected. If that was a mistake, start again on your device.</p>
        </Retry>
      );
    case "expired":
      return (
        <Retry title="This code has expired">
          <p>Nothing was connected. Start again on your device and enter the new code.</p>
        </Retry>
      );
    case "used":
      return (
        <Retry title="This code was already used">
          <p>A code works once. If it was not you who used it, start again on your device.</p>
        </Retry>
      );
    case "unknown":
      return (
        <Retry title="We do not know this code">
          <p>Compare it with your device letter by letter; it has no vowels and no digits.</p>
        </Retry>
      );
    case "too_many_attempts":
      return (
        <Ending title="Too many attempts">
          <p>Wait a minute, then try again. Your code keeps working until it expires.</p>
        </Ending>
      );
    case "refused":
      return (
        <Ending title="This did not work">
          <p>{state.problem}</p>
        </Ending>
      );
  }
}

function Ending({ title, children }: { title: string; children: Child }) {
  return (
    <Page title={title}>
      <h1>{title}</h1>
      {children}
    </Page>
  );
}

function Retry({ title, children }: { title: string; children: Child }) {
  return (
    <Ending title={title}>
      {children}
      <CodeForm />
    </Ending>
  );
}

function CodeForm() {
  return (
    <form method="get" action="/device">
      <label for="user_code">Code</label>
      <input
        id="user_code"
        name="user_code"
        type="text"
        class="code"
        placeholder="XXXX-XXXX"
        maxlength={USER_CODE_INPUT_MAX_LENGTH}
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        required
      />
      <button type="submit">Continue</button>
    </form>
  );
}

function Confirm(props: ConfirmProps) {
  const { user_code, approver, problem, token_days } = props;
  return (
    <Page title="Approve a device">
      <h1>Does your device show this code?</h1>
      <p class="code">
        <strong>{user_code}</strong>
      </p>
      <Facts {...props} />
      <p class="problem">
        <strong>Approve only what you started yourself</strong>, just now, on a device that you can
        see. If somebody sent you this code, or asks you to enter it, deny it.
      </p>
      {problem === null ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <form method="post" action="/device/approve">
        <input type="hidden" name="user_code" value={user_code} />
        <p>
          It will be able to use your account{approver === null ? null : <> ({approver})</>} and
          spend your credits for {token_days} days, or until you revoke it.
        </p>
        <Limits open={problem !== null} />
        <button type="submit">Approve</button>
      </form>
      <form method="post" action="/device/deny">
        <input type="hidden" name="user_code" value={user_code} />
        <button type="submit" class="quiet">
          Deny
        </button>
      </form>
    </Page>
  );
}

function Facts(props: ConfirmProps) {
  const { client_name, app_slug, app_name, program, place, started_at, age_minutes } = props;
  const shown_at = `${started_at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return (
    <dl class="facts">
      <dt>It calls itself</dt>
      <dd>{client_name ?? "nothing"}</dd>
      {app_slug === null ? null : (
        <>
          <dt>For the app</dt>
          <dd>
            {app_name === null ? `${app_slug} (not registered here)` : `${app_name} (${app_slug})`}
          </dd>
        </>
      )}
      <dt>Program</dt>
      <dd>{program ?? "unknown"}</dd>
      <dt>Started from</dt>
      <dd>
        {place ?? "an unknown place"}
        {props.another_country ? (
          <strong class="alarming"> – another country than you are in now</strong>
        ) : null}
      </dd>
      <dt>Started</dt>
      <dd>
        {age_minutes === 0 ? "just now" : `${age_minutes} min ago`},{" "}
        <time datetime={started_at.toISOString()}>{shown_at}</time>
      </dd>
    </dl>
  );
}

const PERIOD_WORDS: Readonly<Record<(typeof CAP_PERIODS)[number], string>> = {
  total: "in total",
  "30_days": "every 30 days",
};

function Limits({ open }: { open: boolean }) {
  return (
    <details open={open}>
      <summary>Limit what it may do</summary>
      <fieldset>
        <legend>Access</legend>
        <label class="choice">
          <input type="radio" name="access" value="write" checked /> Read and spend
        </label>
        <label class="choice">
          <input type="radio" name="access" value="read" /> Read only
        </label>
      </fieldset>
      <label for="apps">Only these apps</label>
      <input id="apps" name="apps" type="text" autocomplete="off" aria-describedby="apps_hint" />
      <p class="hint" id="apps_hint">
        Names with commas between; empty means all apps.
      </p>
      <label for="credits">At most this many credits</label>
      <input
        id="credits"
        name="credits"
        type="number"
        min="0"
        max={COST_MAX_CREDITS}
        step="1"
        inputmode="numeric"
        aria-describedby="credits_hint"
      />
      <p class="hint" id="credits_hint">
        Empty means no limit: a job may also cost more than its estimate.
      </p>
      <label for="period">Counted</label>
      <select id="period" name="period">
        {CAP_PERIODS.map((period) => (
          <option value={period}>{PERIOD_WORDS[period]}</option>
        ))}
      </select>
    </details>
  );
}
