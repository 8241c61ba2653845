/** The sign-in page's markup. */
import type { SignInFailure, SignInMethod } from "../../identity/port.ts";
import { Page } from "../layout/layout.tsx";
import { NoticeLine } from "../layout/notice.tsx";
import { ProblemText } from "../layout/problem_page.tsx";
import { ProviderMark } from "./provider_mark.tsx";
import { shellOf } from "../layout/shell.ts";
import { SIGN_IN_PROBLEMS, type Notice } from "../layout/words.ts";

/** Who wants the person signed in; `app_name`: as its operators registered it, null where nobody did. */
export interface Asking {
  readonly app_name: string | null;
  /** The host, or the scheme of an app on the device. */
  readonly place: string;
}

/** What a person can choose from, and where they go afterwards. */
export interface SignInChoices {
  readonly methods: readonly SignInMethod[];
  /** Carried along; null where the person came on their own. */
  readonly redirect_to: string | null;
  /** Null: one of our own pages. */
  readonly asking: Asking | null;
  readonly dev_signin: boolean;
}

export type SignInPageState =
  | {
      readonly kind: "choose";
      readonly choices: SignInChoices;
      readonly notice: Notice | null;
      /** What was typed into the form of development sign-in, if that is not an e-mail address. */
      readonly refused_email: string | null;
    }
  | {
      /** Signed in already; `again`: this very page, for who signs out first. */
      readonly kind: "continue";
      readonly asking: Asking;
      readonly whose: { readonly name: string | null; readonly email: string | null };
      readonly redirect_to: string;
      readonly again: string;
    }
  | {
      readonly kind: "failed";
      readonly choices: SignInChoices;
      readonly failure: SignInFailure;
      readonly provider: string;
    }
  | { readonly kind: "link_failed"; readonly failure: SignInFailure; readonly provider: string };

export function SignInPage({ state }: { state: SignInPageState }) {
  switch (state.kind) {
    case "choose": {
      const { asking } = state.choices;
      const title = asking === null ? "Sign in" : `Sign in to ${asking.app_name ?? asking.place}`;
      return (
        <Page title={title}>
          <NoticeLine notice={state.notice} />
          <h1>{title}</h1>
          <About asking={asking} />
          <Choices choices={state.choices} refused_email={state.refused_email} />
        </Page>
      );
    }
    case "continue":
      return <Continue {...state} />;
    case "failed": {
      const problem = SIGN_IN_PROBLEMS[state.failure](state.provider);
      return (
        <Page title={problem.title}>
          <ProblemText problem={problem} />
          <h2>Sign in</h2>
          <Choices choices={state.choices} />
        </Page>
      );
    }
    case "link_failed": {
      const problem = SIGN_IN_PROBLEMS[state.failure](state.provider);
      return (
        <Page title={problem.title}>
          <ProblemText problem={problem} />
          <a class="button" href="/account">
            Back to your account
          </a>
        </Page>
      );
    }
  }
}

/** What is being signed in to, and where that leads. */
function About({ asking }: { asking: Asking | null }) {
  const { service_name } = shellOf();
  return (
    <p class="hint">
      {service_name} is one sign-in and one balance of credits for many apps.
      {asking === null ? null : (
        <>
          {" "}
          You go back to <strong class="host">{asking.place}</strong>.
        </>
      )}
    </p>
  );
}

function Continue(props: Extract<SignInPageState, { kind: "continue" }>) {
  const { asking, whose, redirect_to, again } = props;
  const who = whose.name ?? whose.email;
  const title = `Continue to ${asking.app_name ?? asking.place}`;
  return (
    <Page title={title}>
      <h1>{title}</h1>
      {who === null ? null : (
        <p>
          You are signed in as <strong class="host">{who}</strong>
          {whose.name === null || whose.email === null ? null : ` (${whose.email})`}.
        </p>
      )}
      <p class="hint">
        <strong class="host">{asking.place}</strong> can then use your account and its credits.
      </p>
      <form method="post" action="/signin/continue">
        <input type="hidden" name="redirect_to" value={redirect_to} />
        <button type="submit">{who === null ? "Continue" : `Continue as ${who}`}</button>
      </form>
      <form method="post" action="/signout">
        <input type="hidden" name="redirect_to" value={again} />
        <button type="submit" class="quiet">
          Use another account
        </button>
      </form>
    </Page>
  );
}

function Choices(props: { choices: SignInChoices; refused_email?: string | null }) {
  const { choices, refused_email = null } = props;
  const { methods, redirect_to, dev_signin } = choices;
  const query = redirect_to === null ? "" : `?${new URLSearchParams({ redirect_to }).toString()}`;
  return (
    <>
      {methods.length === 0 ? null : (
        <ul class="methods">
          {methods.map(({ id, name }, place) => (
            <li>
              <a class={place === 0 ? "button" : "button quiet"} href={`/signin/${id}${query}`}>
                <ProviderMark id={id} />
                {`Continue with ${name}`}
              </a>
            </li>
          ))}
        </ul>
      )}
      {dev_signin ? (
        <DevelopmentForm {...{ redirect_to, refused_email }} is_only={methods.length === 0} />
      ) : null}
      {methods.length === 0 && !dev_signin ? (
        <p>No way to sign in is set up yet. The operator of this service can add one.</p>
      ) : null}
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
      <label for="email">E-mail address</label>
      <input
        id="email"
        name="email"
        type="email"
        autocomplete="username"
        required
        value={refused_email ?? undefined}
        aria-invalid={is_refused ? "true" : undefined}
        aria-describedby={is_refused ? "email-problem" : undefined}
      />
      {is_refused ? (
        <p class="field-problem" id="email-problem" role="alert">
          Type a whole e-mail address, such as ada@example.com.
        </p>
      ) : null}
      {redirect_to === null ? null : <input type="hidden" name="redirect_to" value={redirect_to} />}
      <button type="submit" class={is_only ? undefined : "quiet"}>
        Sign in
      </button>
      <p class="hint">Development only: no password, any address.</p>
    </form>
  );
}
