/** The device page: enter a code, compare it and decide, and see the result. */
import type { Child } from "hono/jsx";
import {
  USER_CODE_INPUT_MAX_LENGTH,
  USER_CODE_LENGTH,
  beginningOf,
} from "../../domain/device_login.ts";
import {
  choicesSentence,
  LimitFields,
  Summary,
  type ApprovalChoices,
  type ApprovalProblems,
  type Offered,
} from "./choices.tsx";
import { CapChoice } from "./cap_choice.tsx";
import { describedBy, FieldProblem } from "./fields.tsx";
import type { SpendingCap } from "../../domain/spending_cap.ts";
import { Page } from "../layout/layout.tsx";
import { Support } from "../layout/support.tsx";

/** A login to decide. A value that the device's client did not send is null. */
export interface LoginFacts extends Offered {
  /** The complete code, without its dash. */
  readonly user_code: string;
  /** The approver's e-mail address or name; null if neither is known. */
  readonly approver: string | null;
  /** The approver's available credits. */
  readonly credits: number;
  readonly client_name: string | null;
  readonly app_slug: string | null;
  /** The app's registration; null if it is not registered. */
  readonly app: { readonly name: string; readonly suggested_cap: SpendingCap | null } | null;
  readonly program: string | null;
  readonly location: string | null;
  /** Whether the login was started in a different country from the approver's. */
  readonly another_country: boolean;
  readonly started_at: Date;
  readonly age_minutes: number;
  readonly token_days: number;
}

interface ConfirmProps {
  readonly facts: LoginFacts;
  readonly choices: ApprovalChoices;
  readonly problems: ApprovalProblems;
}

/** A form that can be sent again unchanged. */
interface RetryForm {
  readonly method: string;
  readonly path: string;
  readonly fields: readonly (readonly [string, string])[];
}

export type DevicePageState =
  /** `typed_code`: the code that the field starts with. */
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
      readonly retry_form: RetryForm | null;
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
              Does your device show this code? Continue only if you started this yourself. If
              someone sent you a link, close this page.
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
          <p>Go back to your device. It will be signed in within a few seconds.</p>
          <p class="hint">
            You can close this window or view{" "}
            <a href="/account/connections">your devices and tokens</a>.
          </p>
        </Ending>
      );
    case "denied":
      return (
        <Ending title="Request denied">
          <p>The device was not connected, and this code cannot be used any more.</p>
          <p>
            If someone sent you this code, do not reply to them. They may be trying to get into your
            account.
          </p>
        </Ending>
      );
    case "was_denied":
      return (
        <Retry title="This request was denied">
          <p>The device was not connected. If this was a mistake, start again on your device.</p>
        </Retry>
      );
    case "expired":
      return (
        <Retry title="This code has expired">
          <p>The device was not connected. Start again on your device and enter the new code.</p>
        </Retry>
      );
    case "used":
      return (
        <Retry title="This code was already used">
          <p>A code works only once. If you did not use it, start again on your device.</p>
        </Retry>
      );
    case "unknown":
      return (
        <Page title="Error: unknown code">
          <h1>Unknown code</h1>
          <CodeForm
            typed_code={state.typed_code}
            problem="Check the code on your device and enter it again. It has 8 letters, without vowels and digits."
          />
        </Page>
      );
    case "too_many_attempts":
      return (
        <Ending title="Too many attempts">
          <p>
            Wait {state.seconds} seconds, then try again. Your code keeps working until it expires
            {state.retry_form === null ? "." : ", and your choices are kept here."}
          </p>
          {state.retry_form === null ? null : <RetryButton {...state.retry_form} />}
        </Ending>
      );
    case "refused":
      return (
        <Ending title="This did not work">
          <p>{state.problem}</p>
          <Support />
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

function RetryButton({ method, path, fields }: RetryForm) {
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

/** The code, the limit and the decision come first. The other choices are folded, because the suggested ones fit the request. */
function Confirm({ facts, choices, problems }: ConfirmProps) {
  const { user_code, approver } = facts;
  const account = approver === null ? "your account" : `your account (${approver})`;
  const { last_letters: _, whole: __, credits, ...of_folded } = problems;
  const opens_folded = Object.keys(of_folded).length > 0;
  const is_doubtful = opens_folded || credits !== undefined;
  const has_problems = Object.keys(problems).length > 0;
  return (
    <Page title={has_problems ? "Error: connect this device" : "Connect this device?"}>
      <Summary problems={problems} />
      <h1>Connect this device?</h1>
      <Facts
        facts={facts}
        rights={is_doubtful ? `use ${account}` : rightsOf(account, choices, facts)}
      />
      <form method="post" action="/device/approve">
        <input type="hidden" name="user_code" value={user_code} />
        <LastLetters user_code={user_code} choices={choices} problems={problems} />
        <CapChoice {...choices} problem={problems.credits} balance={facts.credits} />
        <p>
          <strong>Approve only if you started this yourself</strong>, just now, on a device that you
          can see. If someone sent you here or asks you for these letters, choose Deny.
        </p>
        <div class="acts">
          <button type="submit">Approve</button>
          <button type="submit" class="quiet" formaction="/device/deny">
            Deny
          </button>
        </div>
        <details class="limits" open={opens_folded}>
          <summary>Change what it may do</summary>
          <LimitFields choices={choices} problems={problems} offered={facts} />
        </details>
      </form>
    </Page>
  );
}

/**
 * Protects against approval by a click on a malicious link: the page shows only half of the code, and the
 * person must type the other half from the device.
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
        It starts with <strong class="letters">{beginningOf(user_code)}</strong>. Enter the four
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

/** What the chosen limits allow. */
function rightsOf(account: string, choices: ApprovalChoices, facts: LoginFacts): string {
  return [
    choicesSentence(account, choices, facts.registered_apps),
    ...(choices.upstream ? ["act as you at other services"] : []),
    ...(choices.admin ? ["operate the service"] : []),
  ].join(", and ");
}

/** What the device's client says of itself, and from where; nothing of it is proven. Then what it may do. */
function Facts({ facts, rights }: { facts: LoginFacts; rights: string }) {
  const { client_name, app_slug, app, program, location, started_at, token_days } = facts;
  const { age_minutes, another_country } = facts;
  return (
    <dl class="facts">
      <dt>It calls itself</dt>
      <dd>
        {client_name ?? "no name"}
        {program === null ? null : ` (${program})`}
      </dd>
      {app_slug === null ? null : (
        <>
          <dt>It is for</dt>
          <dd>
            {app === null ? `${app_slug} (not registered here)` : `${app.name} (${app_slug})`}
          </dd>
        </>
      )}
      <dt>Started</dt>
      <dd>
        {age_minutes === 0 ? "just now" : `${age_minutes} min ago`} (
        <time datetime={started_at.toISOString()}>
          {`${started_at.toISOString().slice(11, 16)} UTC`}
        </time>
        ), from {location ?? "an unknown location"}
        {another_country ? (
          <strong class="alarming"> – not the country that you are in now</strong>
        ) : null}
      </dd>
      <dt>It may</dt>
      <dd>
        <strong>{rights}</strong>, for {token_days} days or until you revoke its access
      </dd>
    </dl>
  );
}
