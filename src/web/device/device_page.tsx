/** The device page's markup: enter a code, compare it and decide, and how that ended. */
import type { Child } from "hono/jsx";
import {
  USER_CODE_INPUT_MAX_LENGTH,
  USER_CODE_LENGTH,
  beginningOf,
} from "../../domain/device_login.ts";
import {
  AccessChoice,
  AdminChoice,
  AppsChoice,
  CapChoice,
  describedBy,
  FieldProblem,
  FIELD_IDS,
  UpstreamChoice,
  type ApprovalChoices,
  type ApprovalProblems,
  type KnownApp,
} from "./choices.tsx";
import { Page } from "../layout/layout.tsx";

/** A login to decide. What the asker says of itself is null where it says nothing. */
export interface LoginFacts {
  /** All its letters, without a dash. */
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
  readonly known_apps: readonly KnownApp[];
  /** The third parties whose tokens may be held for the person. */
  readonly upstream_names: readonly string[];
  /** Whether the approver operates the service, and may let the device do so. */
  readonly may_operate: boolean;
}

interface ConfirmProps {
  readonly facts: LoginFacts;
  readonly choices: ApprovalChoices;
  readonly problems: ApprovalProblems;
}

/** A form that may be sent again as it was. */
interface SameAgain {
  readonly method: string;
  readonly path: string;
  readonly fields: readonly (readonly [string, string])[];
}

export type DevicePageState =
  /** `typed_code`: filled in, for the person to look at. */
  | { readonly kind: "enter"; readonly typed_code: string }
  | ({ readonly kind: "confirm" } & ConfirmProps)
  | { readonly kind: "approved" }
  | { readonly kind: "denied" }
  | { readonly kind: "was_denied" }
  | { readonly kind: "expired" }
  | { readonly kind: "used" }
  | { readonly kind: "unknown"; readonly typed_code: string }
  | {
      readonly kind: "too_many_attempts";
      readonly seconds: number;
      readonly again: SameAgain | null;
    }
  | { readonly kind: "refused"; readonly problem: string };

export function DevicePage({ state }: { state: DevicePageState }) {
  switch (state.kind) {
    case "enter":
      return (
        <Page title="Connect a device">
          <h1>Connect a device</h1>
          {state.typed_code === "" ? (
            <p>Enter the code that your device shows.</p>
          ) : (
            <p>
              Does your device show this code? Go on only if you started this yourself; if somebody
              sent you a link, close this page.
            </p>
          )}
          <CodeForm typed_code={state.typed_code} />
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
        <Page title="Error: unknown code">
          <h1>We do not know this code</h1>
          <CodeForm
            typed_code={state.typed_code}
            problem="Compare it with your device letter by letter: it has 8 letters, none of them a vowel, and no digits."
          />
        </Page>
      );
    case "too_many_attempts":
      return (
        <Ending title="Too many attempts">
          <p>
            Wait {state.seconds} seconds, then try again. Your code keeps working until it expires
            {state.again === null ? "." : ", and what you chose is kept here."}
          </p>
          {state.again === null ? null : <SendAgain {...state.again} />}
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
      <CodeForm typed_code="" />
    </Ending>
  );
}

function SendAgain({ method, path, fields }: SameAgain) {
  return (
    <form method={method === "GET" ? "get" : "post"} action={path}>
      {fields.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <button type="submit">Try again</button>
    </form>
  );
}

function CodeForm({ typed_code, problem }: { typed_code: string; problem?: string }) {
  return (
    <form method="get" action="/device">
      <label for="user_code">Code</label>
      <FieldProblem id="user_code_problem" problem={problem} />
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
        autofocus={problem !== undefined}
        value={typed_code.slice(0, USER_CODE_INPUT_MAX_LENGTH)}
        {...describedBy("user_code_problem", problem)}
      />
      <button type="submit">Continue</button>
    </form>
  );
}

function Confirm({ facts, choices, problems }: ConfirmProps) {
  const { user_code, approver, token_days } = facts;
  const wrong = Object.keys(problems).length > 0;
  return (
    <Page title={wrong ? "Error: connect this device" : "Connect this device?"}>
      <Summary problems={problems} />
      <h1>Connect this device?</h1>
      <Facts {...facts} />
      <p class="problem">
        <strong>Only if you started this yourself</strong>, just now, on a device that you can see.
        If somebody sent you here, or asks you for these letters, deny it.
      </p>
      <form method="post" action="/device/approve">
        <input type="hidden" name="user_code" value={user_code} />
        <p>
          It will use your account{approver === null ? null : <> ({approver})</>} for {token_days}{" "}
          days, or until you revoke it.
        </p>
        <AccessChoice choices={choices} problems={problems} />
        <AppsChoice choices={choices} problems={problems} known_apps={facts.known_apps} />
        <CapChoice choices={choices} problems={problems} />
        <UpstreamChoice choices={choices} names={facts.upstream_names} />
        {facts.may_operate ? <AdminChoice choices={choices} /> : null}
        <LastLetters user_code={user_code} choices={choices} problems={problems} />
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

/** All errors at once, first on the page, each a way to its field. */
function Summary({ problems }: Pick<ConfirmProps, "problems">) {
  const { whole, ...fields } = problems;
  const names = Object.keys(FIELD_IDS) as (keyof typeof FIELD_IDS)[];
  const wrong = names.flatMap((name) => {
    const problem = fields[name];
    return problem === undefined ? [] : [[name, problem] as const];
  });
  if (whole === undefined && wrong.length === 0) return null;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>Nothing was approved yet.</strong> What you chose is kept.
      </p>
      <ul>
        {whole === undefined ? null : (
          <li>
            Your account has as many devices and tokens as it can have.{" "}
            <a href="/account/tokens">Revoke one that you no longer need</a>, then approve again.
          </li>
        )}
        {wrong.map(([name, problem]) => (
          <li>
            <a href={`#${FIELD_IDS[name]}`}>{problem}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/**
 * The one thing that no lured click does: the page shows half of the code, and the person types what
 * only the device shows.
 */
function LastLetters({
  user_code,
  choices,
  problems,
}: Omit<ConfirmProps, "facts"> & { user_code: string }) {
  return (
    <fieldset class="proof">
      <legend>The code on your device</legend>
      <FieldProblem id="last_letters_problem" problem={problems.last_letters} />
      <label for="last_letters">
        It begins with <strong class="letters">{beginningOf(user_code)}</strong>. Type the four
        letters after that.
      </label>
      <div class="halves code">
        <span aria-hidden="true">{beginningOf(user_code)}-</span>
        <input
          id="last_letters"
          name="last_letters"
          type="text"
          class="code"
          placeholder="XXXX"
          size={USER_CODE_LENGTH / 2}
          maxlength={USER_CODE_INPUT_MAX_LENGTH}
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          value={choices.last_letters}
          {...describedBy("last_letters_problem", problems.last_letters)}
        />
      </div>
    </fieldset>
  );
}

function Facts(props: LoginFacts) {
  const { client_name, app_slug, app_name, program, place, started_at, age_minutes } = props;
  const shown_at = `${started_at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return (
    <dl class="facts">
      <dt>It calls itself</dt>
      <dd>{client_name ?? "nothing"}</dd>
      {app_slug === null ? null : (
        <>
          <dt>It says it is for</dt>
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
