/** The device page: enter a code, compare it and decide, and see the result. */
import type { Child } from "hono/jsx";
import { locationName, type Location } from "../../domain/client_description.ts";
import {
  USER_CODE_INPUT_MAX_LENGTH,
  USER_CODE_LENGTH,
  beginningOf,
} from "../../domain/device_login.ts";
import { AllowanceForm, ALLOWANCE_SCRIPTS } from "../allowance/allowance_form.tsx";
import type { ApprovalChoices, ApprovalProblems, Offered } from "../allowance/choices.tsx";
import { describedBy, FieldProblem, problemText } from "../allowance/fields.tsx";
import type { SpendingCap } from "../../domain/spending_cap.ts";
import { rich, say, t, type PlainText, type Said } from "../language/text.tsx";
import { programText } from "../layout/labels.ts";
import { Page } from "../layout/layout.tsx";
import { currentShell } from "../layout/shell.ts";

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
  /** Whether it requests only to read. */
  readonly reads_only: boolean;
  readonly location: Location;
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
  | { readonly kind: "refused"; readonly problem: Said };

export function DevicePage({ state }: { state: DevicePageState }) {
  switch (state.kind) {
    case "enter":
      return <Enter typed_code={state.typed_code} />;
    case "confirm":
      return <Confirm {...state} />;
    case "approved":
      return (
        <Ending title="Device connected">
          <p>{t("Go back to your device. It will be signed in within a few seconds.")}</p>
          <p class="hint">
            {rich("You can close this window or view {link}.", {
              link: <a href="/account/access">{t("your devices and tokens")}</a>,
            })}
          </p>
        </Ending>
      );
    case "denied":
      return (
        <Ending title="Request denied">
          <p>{t("The device was not connected, and this code cannot be used any more.")}</p>
          <p>
            {t(
              "If someone sent you this code, do not reply to them. They may be trying to get into your account.",
            )}
          </p>
        </Ending>
      );
    case "was_denied":
      return (
        <Retry
          title="This request was denied"
          text="The device was not connected. If this was a mistake, start again on your device."
        />
      );
    case "expired":
      return (
        <Retry
          title="This code has expired"
          text="The device was not connected. Start again on your device and enter the new code."
        />
      );
    case "used":
      return (
        <Retry
          title="This code was already used"
          text="A code works only once. If you did not use it, start again on your device."
        />
      );
    case "unknown":
      return <Unknown typed_code={state.typed_code} />;
    case "too_many_attempts":
      return <TooManyAttempts {...state} />;
    case "refused":
      return (
        <Ending title="This did not work">
          <p>{say(state.problem)}</p>
        </Ending>
      );
  }
}

function Enter({ typed_code }: { typed_code: string }) {
  return (
    <Page title={t("Connect a device")}>
      <h1>{t("Connect a device")}</h1>
      {typed_code === "" ? (
        <p>{t("Enter the code that your device shows.")}</p>
      ) : (
        <p>
          {t(
            "Does your device show this code? Continue only if you started this yourself. If someone sent you a link, close this page.",
          )}
        </p>
      )}
      <CodeForm typed_code={typed_code} />
    </Page>
  );
}

function Unknown({ typed_code }: { typed_code: string }) {
  return (
    <Page title={t("Error: unknown code")}>
      <h1>{t("Unknown code")}</h1>
      <CodeForm
        typed_code={typed_code}
        problem={t(
          "Check the code on your device and enter it again. It has 8 letters, without vowels and digits.",
        )}
      />
    </Page>
  );
}

type TooMany = Extract<DevicePageState, { kind: "too_many_attempts" }>;

function TooManyAttempts({ seconds, retry_form }: TooMany) {
  return (
    <Ending title="Too many attempts">
      <p>
        {t("Wait {seconds} seconds, then try again.", { seconds })}{" "}
        {retry_form === null
          ? t("Your code keeps working until it expires.")
          : t("Your code keeps working until it expires, and your choices are kept here.")}
      </p>
      {retry_form === null ? null : <RetryButton {...retry_form} />}
    </Ending>
  );
}

function Ending({ title, children }: { title: PlainText; children: Child }) {
  return (
    <Page title={t(title)}>
      <h1>{t(title)}</h1>
      {children}
    </Page>
  );
}

function Retry({ title, text }: { title: PlainText; text: PlainText }) {
  return (
    <Ending title={title}>
      <p>{t(text)}</p>
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
      <button type="submit">{t("Try again")}</button>
    </form>
  );
}

function CodeForm({ typed_code, problem }: { typed_code: string; problem?: string }) {
  return (
    <form method="get" action="/device">
      <label for="user_code">{t("Code")}</label>
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
      <button type="submit">{t("Continue")}</button>
    </form>
  );
}

function Confirm({ facts, choices, problems }: ConfirmProps) {
  const { user_code, credits, token_days } = facts;
  const has_problems = Object.keys(problems).length > 0;
  const title = t("Connect this device?");
  return (
    <Page
      title={has_problems ? t("Error: connect this device") : title}
      scripts={ALLOWANCE_SCRIPTS}
    >
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
            {rich(
              "{only_yours}, just now, on a device that you can see. If someone sent you here or asks you for these letters, choose Deny.",
              { only_yours: <strong>{t("Approve only if you started this yourself")}</strong> },
            )}
          </p>
        }
        buttons={
          <>
            <button type="submit">{t("Approve")}</button>
            <button type="submit" class="quiet" formaction="/device/deny">
              {t("Deny")}
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
      <legend>{t("The code on your device")}</legend>
      <FieldProblem id="last_letters_problem" problem={problemText(problems.last_letters)} />
      <label for="last_letters">
        {rich("It starts with {beginning}. Enter the four letters after that.", {
          beginning: <strong class="letters">{beginningOf(user_code)}</strong>,
        })}
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
  const time = (
    <time datetime={started_at.toISOString()}>
      {`${started_at.toISOString().slice(11, 16)} UTC`}
    </time>
  );
  const place = locationName(location, currentShell().language) ?? t("an unknown location");
  return (
    <dl class="facts">
      <dt>{t("It calls itself")}</dt>
      <dd>
        {client_name ?? t("no name")}
        {program === null ? null : ` (${programText(program)})`}
      </dd>
      {app_slug === null ? null : (
        <>
          <dt>{t("It is for")}</dt>
          <dd>
            {app === null
              ? t("{app} (not registered here)", { app: app_slug })
              : `${app.name} (${app_slug})`}
          </dd>
        </>
      )}
      <dt>{t("Started")}</dt>
      <dd>
        {age_minutes === 0
          ? rich("just now ({time}), from {place}", { time, place })
          : rich("{minutes} min ago ({time}), from {place}", { minutes: age_minutes, time, place })}
        {another_country ? (
          <strong class="alarming">{` ${t("– not the country that you are in now")}`}</strong>
        ) : null}
      </dd>
      {approver === null ? null : (
        <>
          <dt>{t("Your account")}</dt>
          <dd class="host">{approver}</dd>
        </>
      )}
    </dl>
  );
}
