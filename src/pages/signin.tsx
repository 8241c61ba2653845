/** The sign-in page's markup. */
import { Page } from "./layout.tsx";

export interface SignInPageProps {
  /** Carried through the form; null where the person came on their own. */
  readonly redirect_to: string | null;
  /** The host a person goes back to, for them to read. */
  readonly returns_to: string | null;
  readonly dev_signin: boolean;
}

export function SignInPage({ redirect_to, returns_to, dev_signin }: SignInPageProps) {
  return (
    <Page title="Sign in">
      <h1>Sign in</h1>
      {returns_to === null ? null : (
        <p>
          You will go back to <strong>{returns_to}</strong>.
        </p>
      )}
      {dev_signin ? (
        <DevelopmentForm redirect_to={redirect_to} />
      ) : (
        <p>No way to sign in is set up yet.</p>
      )}
    </Page>
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
