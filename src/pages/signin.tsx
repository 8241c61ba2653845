/** The sign-in page's markup. */
import type { SignInFailure, SignInMethod } from "../identity/port.ts";
import { Page } from "./layout.tsx";
import { NoticeLine } from "./notice.tsx";
import { ProblemText } from "./problem.tsx";
import { SIGN_IN_PROBLEMS, type Notice } from "./words.ts";

/** What a person can choose from, and where they go afterwards. */
export interface SignInChoices {
  readonly methods: readonly SignInMethod[];
  /** Carried along; null where the person came on their own. */
  readonly redirect_to: string | null;
  /** Where they go back to, for them to read. */
  readonly returns_to: string | null;
  readonly dev_signin: boolean;
}

export type SignInPageState =
  | { readonly kind: "choose"; readonly choices: SignInChoices; readonly notice: Notice | null }
  | {
      readonly kind: "failed";
      readonly choices: SignInChoices;
      readonly failure: SignInFailure;
      readonly provider: string;
    }
  | { readonly kind: "link_failed"; readonly failure: SignInFailure; readonly provider: string };

export function SignInPage({ state }: { state: SignInPageState }) {
  switch (state.kind) {
    case "choose":
      return (
        <Page title="Sign in">
          <NoticeLine notice={state.notice} />
          <h1>Sign in</h1>
          <Choices choices={state.choices} />
        </Page>
      );
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

function Choices({ choices }: { choices: SignInChoices }) {
  const { methods, redirect_to, returns_to, dev_signin } = choices;
  const query = redirect_to === null ? "" : `?${new URLSearchParams({ redirect_to }).toString()}`;
  return (
    <>
      {returns_to === null ? null : (
        <p>
          You will go back to <strong class="host">{returns_to}</strong>.
        </p>
      )}
      {methods.length === 0 ? null : (
        <ul class="methods">
          {methods.map(({ id, name }) => (
            <li>
              <a class="button" href={`/signin/${id}${query}`}>{`Continue with ${name}`}</a>
            </li>
          ))}
        </ul>
      )}
      {dev_signin ? <DevelopmentForm redirect_to={redirect_to} /> : null}
      {methods.length === 0 && !dev_signin ? (
        <p>No way to sign in is set up yet. The operator of this service can add one.</p>
      ) : null}
    </>
  );
}

function DevelopmentForm({ redirect_to }: { redirect_to: string | null }) {
  return (
    <form method="post" action="/signin/dev">
      <label for="email">E-mail address</label>
      <input id="email" name="email" type="email" autocomplete="username" required />
      {redirect_to === null ? null : <input type="hidden" name="redirect_to" value={redirect_to} />}
      <button type="submit">Sign in</button>
      <p class="hint">Development only: no password, any address.</p>
    </form>
  );
}
