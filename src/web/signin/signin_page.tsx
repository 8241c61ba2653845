/** The sign-in page: choose a method, confirm the app, or see why a sign-in failed. */
import type { SignInFailure, SignInMethod } from "../../identity/port.ts";
import { rich, say, t, type Message, type Said } from "../language/text.tsx";
import { AppHead, type AppLook } from "../layout/app_icon.tsx";
import { NoticeLine, Page, type PageScript } from "../layout/layout.tsx";
import { ProblemText } from "../layout/problem_page.tsx";
import { PasskeyForm } from "./passkey_form.tsx";
import { ProviderIcon } from "./provider_icon.tsx";
import { currentShell } from "../layout/shell.ts";
import { SIGN_IN_PROBLEMS } from "../layout/messages.ts";

/** The app that the person signs in to. */
export interface RequestingApp {
  /** How it is registered; null if the origin is not registered by exactly one app. */
  readonly look: AppLook | null;
  /** The host, or the scheme and host of an app on the device. */
  readonly host: string;
}

export interface SignInChoices {
  readonly methods: readonly SignInMethod[];
  readonly passkey_signin: boolean;
  /** The address to return to; null if the request named none. */
  readonly redirect_to: string | null;
  /** Null for our own pages. */
  readonly requesting_app: RequestingApp | null;
  readonly dev_signin: boolean;
  /** The sign-in services of apps whose people cannot sign in here, because no provider is set up for them. */
  readonly closed_services: readonly string[];
}

type SignInPageState =
  | {
      readonly kind: "choose";
      readonly choices: SignInChoices;
      readonly notice: Said | null;
      /** Whether a client requested a new sign-in of a person who is signed in. */
      readonly again: boolean;
      /** The invalid text that was typed into the form of development sign-in, or null. */
      readonly refused_email: string | null;
    }
  | {
      /** The person is already signed in and confirms the app. */
      readonly kind: "continue";
      readonly requesting_app: RequestingApp;
      readonly person: { readonly name: string | null; readonly email: string | null };
      readonly redirect_to: string;
      /** The address of this page, to return to after signing out. */
      readonly this_page: string;
    }
  | {
      readonly kind: "failed";
      readonly choices: SignInChoices;
      readonly failure: SignInFailure;
      readonly provider: string | Message;
    }
  | {
      readonly kind: "link_failed";
      readonly failure: SignInFailure;
      readonly provider: string | Message;
    };

export function SignInPage({ state }: { state: SignInPageState }) {
  switch (state.kind) {
    case "choose": {
      const { requesting_app } = state.choices;
      const title = titleOf(requesting_app, state.again);
      return (
        <Page title={title} scripts={scriptsFor(state.choices)}>
          <NoticeLine notice={state.notice} />
          <Head requesting_app={requesting_app} />
          <h1>{title}</h1>
          {state.again ? (
            <p>{t("The app that you came from wants you to sign in again before it continues.")}</p>
          ) : (
            <About requesting_app={requesting_app} />
          )}
          <Choices choices={state.choices} refused_email={state.refused_email} />
        </Page>
      );
    }
    case "continue":
      return <Continue {...state} />;
    case "failed": {
      const problem = SIGN_IN_PROBLEMS[state.failure](state.provider);
      return (
        <Page title={say(problem.title)} scripts={scriptsFor(state.choices)}>
          <ProblemText problem={problem} />
          <h2>{t("Sign in")}</h2>
          <Choices choices={state.choices} />
        </Page>
      );
    }
    case "link_failed": {
      const problem = SIGN_IN_PROBLEMS[state.failure](state.provider);
      return (
        <Page title={say(problem.title)}>
          <ProblemText problem={problem} />
          <a class="button" href="/account/security">
            {t("Back to the page Security")}
          </a>
        </Page>
      );
    }
  }
}

function titleOf(requesting_app: RequestingApp | null, again: boolean): string {
  if (again) return t("Sign in again");
  return requesting_app === null
    ? t("Sign in")
    : t("Sign in to {app}", { app: nameOf(requesting_app) });
}

const scriptsFor = ({ passkey_signin }: SignInChoices): readonly PageScript[] =>
  passkey_signin ? ["passkey.js"] : [];

const nameOf = ({ look, host }: RequestingApp): string => look?.name ?? host;

function Head({ requesting_app }: { requesting_app: RequestingApp | null }) {
  const look = requesting_app?.look ?? null;
  return look === null ? null : <AppHead look={look} />;
}

/** Explains the service, and where the person goes after signing in. */
function About({ requesting_app }: { requesting_app: RequestingApp | null }) {
  const { service_name } = currentShell();
  return (
    <p class="hint">
      {t("{service} gives you one sign-in and one credit balance for many apps.", {
        service: service_name,
      })}
      {requesting_app === null ? null : (
        <>
          {" "}
          {rich("After you sign in, you return to {host}.", {
            host: <strong class="host">{requesting_app.host}</strong>,
          })}
        </>
      )}
    </p>
  );
}

function Continue(props: Extract<SignInPageState, { kind: "continue" }>) {
  const { requesting_app, person, redirect_to, this_page } = props;
  const person_name = person.name ?? person.email;
  const title = t("Continue to {app}", { app: nameOf(requesting_app) });
  return (
    <Page title={title}>
      <Head requesting_app={requesting_app} />
      <h1>{title}</h1>
      {person_name === null ? null : (
        <p>
          {rich("You are signed in as {person}.", {
            person: (
              <>
                <strong class="host">{person_name}</strong>
                {person.name === null || person.email === null ? null : ` (${person.email})`}
              </>
            ),
          })}
        </p>
      )}
      <p class="hint">
        {rich("If you continue, {host} can use your account and its credits.", {
          host: <strong class="host">{requesting_app.host}</strong>,
        })}
      </p>
      <form method="post" action="/signin/continue">
        <input type="hidden" name="redirect_to" value={redirect_to} />
        <button type="submit">
          {person_name === null
            ? t("Continue")
            : t("Continue as {person}", { person: person_name })}
        </button>
      </form>
      <form method="post" action="/signout">
        <input type="hidden" name="redirect_to" value={this_page} />
        <button type="submit" class="quiet">
          {t("Use another account")}
        </button>
      </form>
    </Page>
  );
}

function Choices(props: { choices: SignInChoices; refused_email?: string | null }) {
  const { choices, refused_email = null } = props;
  const { methods, passkey_signin, redirect_to, dev_signin, closed_services } = choices;
  const query = redirect_to === null ? "" : `?${new URLSearchParams({ redirect_to }).toString()}`;
  return (
    <>
      {methods.length === 0 ? null : (
        <ul class="methods">
          {methods.map(({ id, name }, index) => (
            <li>
              <a class={index === 0 ? "button" : "button quiet"} href={`/signin/${id}${query}`}>
                <ProviderIcon id={id} />
                {t("Continue with {method}", { method: name })}
              </a>
            </li>
          ))}
        </ul>
      )}
      {passkey_signin ? <PasskeyChoice query={query} is_only={methods.length === 0} /> : null}
      {dev_signin ? (
        <DevelopmentForm
          {...{ redirect_to, refused_email }}
          is_only={methods.length === 0 && !passkey_signin}
        />
      ) : null}
      {methods.length === 0 && !passkey_signin && !dev_signin ? (
        <p>
          {t("Sign-in is not set up yet. The operator of this service can add a sign-in provider.")}
        </p>
      ) : null}
      {closed_services.length === 0 ? null : (
        <p class="hint">
          {t(
            "Do you use an app that signs you in with {either}? You cannot use that account on this page yet. Use it in the app, and ask the operator of this service to set up sign-in with {all} here. Any other sign-in on this page opens a different account.",
            {
              either: closed_services.join(` ${t("or")} `),
              all: closed_services.join(` ${t("and")} `),
            },
          )}
        </p>
      )}
    </>
  );
}

function PasskeyChoice({ query, is_only }: { query: string; is_only: boolean }) {
  return (
    <>
      <PasskeyForm
        start={`/signin/passkey/start${query}`}
        button={t("Continue with a passkey")}
        is_quiet={!is_only}
      />
      <ul class="ways">
        <li>
          <a href={`/signin/passkey/new${query}`}>{t("Create an account with a passkey")}</a>
        </li>
        <li>
          <a href={`/signin/passkey/recovery${query}`}>{t("Use a recovery code")}</a>
        </li>
      </ul>
    </>
  );
}

function DevelopmentForm(props: {
  redirect_to: string | null;
  refused_email: string | null;
  is_only: boolean;
}) {
  const { redirect_to, refused_email, is_only } = props;
  const is_refused = refused_email !== null;
  return (
    <form method="post" action="/signin/dev">
      <label for="email">{t("E-mail address")}</label>
      <input
        id="email"
        name="email"
        type="email"
        autocomplete="username"
        required
        value={refused_email ?? undefined}
        autofocus={is_refused}
        aria-invalid={is_refused ? "true" : undefined}
        aria-describedby={is_refused ? "email-problem" : undefined}
      />
      {is_refused ? (
        <p class="field-problem" id="email-problem" role="alert">
          {t("Enter a complete e-mail address, such as ada@example.com.")}
        </p>
      ) : null}
      {redirect_to === null ? null : <input type="hidden" name="redirect_to" value={redirect_to} />}
      <button type="submit" class={is_only ? undefined : "quiet"}>
        {t("Sign in")}
      </button>
      <p class="hint">{t("For development only: any address works, without a password.")}</p>
    </form>
  );
}
