/** The pages that create an account with a passkey, show a new recovery code, and ask for one. */
import { rich, t } from "../language/text.tsx";
import { Page } from "../layout/layout.tsx";
import { Secret } from "../layout/secret.tsx";
import { currentShell } from "../layout/shell.ts";
import { PasskeyForm } from "./passkey_form.tsx";

const queryOf = (redirect_to: string | null): string =>
  redirect_to === null ? "" : `?${new URLSearchParams({ redirect_to }).toString()}`;

interface RegistrationPageProps {
  readonly redirect_to: string | null;
  /** Whether an account that begins with a passkey gets starter credits of apps. */
  readonly gets_starters: boolean;
  /** The names of the other ways to sign in. */
  readonly method_names: readonly string[];
}

export function RegistrationPage(props: RegistrationPageProps) {
  const { redirect_to, gets_starters, method_names } = props;
  const { service_name } = currentShell();
  const query = queryOf(redirect_to);
  const title = t("Create an account with a passkey");
  return (
    <Page title={title} scripts={["passkey.js"]}>
      <h1>{title}</h1>
      <p class="hint">
        {t(
          "A passkey replaces a password. Your device or password manager keeps it, and you use it with your fingerprint, your face or your screen lock.",
        )}
      </p>
      {gets_starters ? null : (
        <p class="notice">
          <strong>{t("An account that begins with a passkey gets no starter credits.")}</strong>
          {method_names.length === 0 ? null : <StarterWay {...{ query, method_names }} />}
        </p>
      )}
      <PasskeyForm start={`/signin/passkey/register${query}`} button={t("Create account")}>
        <label for="name">{t("Your name")}</label>
        <input id="name" name="name" type="text" autocomplete="name" required maxlength={60} />
        <p class="hint">
          {t(
            "Your device shows the passkey under this name. Apps that use your account can read it.",
          )}
        </p>
      </PasskeyForm>
      <p class="hint">{t("After that, you get a recovery code, in case you lose the passkey.")}</p>
      <ul class="ways">
        <li>
          <a href={`/signin${query}`}>
            {t("I already have a {service} account", { service: service_name })}
          </a>
        </li>
      </ul>
    </Page>
  );
}

/** How to get an account with starter credits. */
function StarterWay({ query, method_names }: { query: string; method_names: readonly string[] }) {
  const methods = method_names.join(` ${t("or")} `);
  const link = <a href={`/signin${query}`}>{t("sign in with {methods}", { methods })}</a>;
  return (
    <>
      {" "}
      {rich("To get them, {link} first, and add a passkey afterwards on the page Security.", {
        link,
      })}
    </>
  );
}

/** Shows a recovery code, once. `redirect_to`: null leads to the account. */
export function RecoveryCodePage(props: {
  readonly recovery_code: string;
  readonly redirect_to: string | null;
  readonly after: "registration" | "recovery" | "replacement";
}) {
  const { recovery_code, redirect_to, after } = props;
  return (
    <Page title={t("Save your recovery code")} scripts={["copy.js"]} without_account_link>
      <h1>{t("Save your recovery code")}</h1>
      {after === "recovery" ? (
        <p>
          {t("You are signed in. The code that you used is no longer valid. This is your new one.")}
        </p>
      ) : null}
      {after === "registration" ? <p>{t("Your account is ready.")}</p> : null}
      <Secret
        label={t("Your recovery code")}
        text={recovery_code}
        style="code recovery-code"
        is_quiet
      >
        <a class="button quiet" href={fileOf(recovery_code)} download={t("recovery-code.txt")}>
          {t("Download")}
        </a>
      </Secret>
      <p>
        {t(
          "If you lose your passkeys, you can sign in with this code. It works once; then you get a new one. Download it, write it down or keep it in a password manager, and show it to nobody.",
        )}
      </p>
      <p>
        <strong>{t("We show it only now.")}</strong>{" "}
        {t(
          "If you lose it, make a new one on the page Security while you can still sign in. If you lose it and all other ways to sign in, nobody can open your account again, and its credits are lost.",
        )}
      </p>
      {after === "recovery" ? (
        <p>{t("Next, add a passkey on the page Security, and remove the ones that you lost.")}</p>
      ) : null}
      {redirect_to === null ? (
        <a class="button" href={after === "registration" ? "/account" : "/account/security"}>
          {t("I saved the code")}
        </a>
      ) : (
        <form method="post" action="/signin/continue">
          <input type="hidden" name="redirect_to" value={redirect_to} />
          <button type="submit">{t("I saved the code")}</button>
        </form>
      )}
    </Page>
  );
}

/** The code as a text file in the address of a link, which needs no script and no second request. */
function fileOf(recovery_code: string): string {
  const { service_name, host } = currentShell();
  const about = t("Recovery code of your account at {service}, {host}. It works once.", {
    service: service_name,
    host,
  });
  const text = `${recovery_code}\n\n${about}\n`;
  return `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
}

export function RecoveryPage(props: {
  readonly redirect_to: string | null;
  /** Whether a code was sent that nobody has. */
  readonly is_refused: boolean;
}) {
  const { redirect_to, is_refused } = props;
  const query = queryOf(redirect_to);
  return (
    <Page title={t("Sign in with a recovery code")}>
      <h1>{t("Sign in with a recovery code")}</h1>
      <p class="hint">
        {t("Use it if you lost all your passkeys. It works once; then you get a new one.")}
      </p>
      <form method="post" action={`/signin/passkey/recovery${query}`}>
        <label for="code">{t("Recovery code")}</label>
        <input
          id="code"
          name="code"
          type="text"
          class="code recovery-code"
          required
          maxlength={60}
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          autofocus={is_refused}
          aria-invalid={is_refused ? "true" : undefined}
          aria-describedby={is_refused ? "code-problem" : "code-form"}
        />
        <p class="hint" id="code-form">
          {t("It has 25 letters and digits in groups of five.")}
        </p>
        {is_refused ? (
          <p class="field-problem" id="code-problem" role="alert">
            {t(
              "This code is not valid. Check each letter. If you made a newer code, only the newest one is valid.",
            )}
          </p>
        ) : null}
        <button type="submit">{t("Sign in")}</button>
      </form>
      <ul class="ways">
        <li>
          <a href={`/signin${query}`}>{t("Other ways to sign in")}</a>
        </li>
      </ul>
    </Page>
  );
}
