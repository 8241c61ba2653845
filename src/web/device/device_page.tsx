/** The device page: enter a code, compare it and decide, and see the result. */
import type { Child } from "hono/jsx";
import {
  USER_CODE_INPUT_MAX_LENGTH,
  USER_CODE_LENGTH,
  beginningOf,
} from "../../domain/device_login.ts";
import { AllowanceForm, ALLOWANCE_SCRIPTS } from "../allowance/allowance_form.tsx";
import type { ApprovalChoices, ApprovalProblems, Offered } from "../allowance/choices.tsx";
import { describedBy, FieldProblem } from "../allowance/fields.tsx";
import type { SpendingCap } from "../../domain/spending_cap.ts";
import { Page } from "../layout/layout.tsx";

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
      return <Enter typed_code={state.typed_code} />;
    case "confirm":
      return <Confirm {...state} />;
    case "approved":
      return (
        <Ending title="Device connected">
          <p>Go back to your device. It will be signed in within a few seconds.</p>
          <p class="hint">
            You can close this window or view <a href="/account/access">your devices and tokens</a>.
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
      return <TooManyAttempts {...state} />;
    case "refused":
      return (
        <Ending title="This did not work">
          <p>{state.problem}</p>
        </Ending>
      );
  }
}

function Enter({ typed_code }: { typed_code: string }) {
  return (
    <Page title="Connect a device">
      <h1>Connect a device</h1>
      {typed_code === "" ? (
        <p>Enter the code that your device shows.</p>
      ) : (
        <p>
          Does your device show this code? Continue only if you started this yourself. If someone
          sent you a link, close this page.
        </p>
      )}
      <CodeForm typed_code={typed_code} />
    </Page>
  );
}

type TooMany = Extract<DevicePageState, { kind: "too_many_attempts" }>;

function TooManyAttempts({ seconds, retry_form }: TooMany) {
  return (
    <Ending title="Too many attempts">
      <p>
        Wait {seconds} seconds, then try again. Your code keeps working until it expires
        {retry_form === null ? "." : ", and your choices are kept here."}
      </p>
      {retry_form === null ? null : <RetryButton {...retry_form} />}
    </Ending>
  );
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

function Confirm({ facts, choices, problems }: ConfirmProps) {
  const { user_code, credits, token_days } = facts;
  const has_problems = Object.keys(problems).length > 0;
  const title = "Connect this device?";
  return (
    <Page title={has_problems ? "Error: connect this device" : title} scripts={ALLOWANCE_SCRIPTS}>
      <AllowanceForm
        title={title}
        action="/device/approve"
        choices={choices}
        problems={problems}
        offered={facts}
        balance={credits}
        end={token_days * DAY_SECONDS}
        asker={<Facts facts={facts} />}
        first_fields={
          <>
            <input type="hidden" name="user_code" value={user_code} />
            <LastLetters user_code={user_code} choices={choices} problems={problems} />
          </>
        }
        warning={
          <p>
            <strong>Approve only if you started this yourself</strong>, just now, on a device that
            you can see. If someone sent you here or asks you for these letters, choose Deny.
          </p>
        }
        buttons={
          <>
            <button type="submit">Approve</button>
            <button type="submit" class="quiet" formaction="/device/deny">
              Deny
            </button>
          </>
        }
      />
    </Page>
  );
}

const DAY_SECONDS = 24 * 60 * 60;

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

/** The device client's unproven statements about itself and its place. */
function Facts({ facts }: { facts: LoginFacts }) {
  const { approver, client_name, app_slug, app, program, location, started_at } = facts;
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
      {approver === null ? null : (
        <>
          <dt>Your account</dt>
          <dd class="host">{approver}</dd>
        </>
      )}
    </dl>
  );
}
