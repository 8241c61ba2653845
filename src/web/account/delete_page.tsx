/** The form that deletes the account, and the page after it. */
import { FIRST_TO_READ, Page } from "../layout/layout.tsx";
import { currentShell } from "../layout/shell.ts";
import { counted, credits, holdSentence } from "../layout/labels.ts";

/** The word that a person types to delete their account. */
export const CONFIRMATION_WORD = "delete";

/**
 * The holder's losses. `held`: credits held for open jobs; `owed`: the debt that remains after those
 * are released, and that is not forgotten.
 */
interface Lost {
  readonly credits: number;
  readonly held: number;
  readonly owed: number;
  readonly open_jobs: number;
  readonly tokens: number;
}

export interface DeletePageProps {
  /** The holder's e-mail address or name; null if neither is known. */
  readonly holder: string | null;
  readonly lost: Lost;
  /** Whether this service sells credits. */
  readonly sells: boolean;
  readonly is_operator: boolean;
  /** The wrong confirmation that was sent; null if none was. */
  readonly typed: string | null;
}

export function DeletePage({ holder, lost, sells, is_operator, typed }: DeletePageProps) {
  const { owed } = lost;
  return (
    <Page title="Delete your account" without_account_link>
      <h1>Delete your account</h1>
      <p>
        {holder === null ? null : (
          <>
            The account of <strong class="host">{holder}</strong> will be deleted immediately.{" "}
          </>
        )}
        This cannot be undone.
      </p>
      <h2>You lose</h2>
      <Losses lost={lost} sells={sells} />
      <h2>What stays</h2>
      <ul>
        <li>everything that apps made for you: ask each app to delete it</li>
        <li>
          an anonymous code, so that you do not get starter credits again if you open a new account
        </li>
        {owed === 0 ? null : (
          <li>a debt of {credits(owed)}: you owe it again if you open a new account</li>
        )}
      </ul>
      {is_operator ? (
        <p class="problem">
          You operate this service. If OPERATORS contains your identity id, you lose operator access
          until someone adds the identity id of your new account.
        </p>
      ) : null}
      <p>
        If you want to keep a copy, first{" "}
        <a href="/account/data.json" download>
          download your data
        </a>
        .
      </p>
      <Confirmation typed={typed} />
      <a class="button quiet" href="/account">
        Keep my account
      </a>
    </Page>
  );
}

function Losses({ lost, sells }: Pick<DeletePageProps, "lost" | "sells">) {
  const held = holdSentence(lost.held, lost.open_jobs);
  return (
    <ul>
      {lost.credits < 0 ? null : (
        <li>
          {credits(lost.credits)}
          {sells ? ", including credits that you bought, without a refund" : null}
        </li>
      )}
      {held === null ? null : <li>{held}, which may not finish</li>}
      <li>
        access from every browser and app where you are signed in
        {lost.tokens === 0 ? null : (
          <>, and from {counted(lost.tokens, "device or token", "devices and tokens")}</>
        )}
      </li>
      <li>your jobs and statement, your name and e-mail address</li>
    </ul>
  );
}

function Confirmation({ typed }: Pick<DeletePageProps, "typed">) {
  return (
    <form method="post" action="/account/delete">
      <label for="confirmation">
        Type <q>{CONFIRMATION_WORD}</q> to confirm
      </label>
      <input
        id="confirmation"
        name="confirmation"
        type="text"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        maxlength={100}
        required
        aria-invalid={typed === null ? undefined : "true"}
        aria-describedby={typed === null ? undefined : "confirmation-problem"}
        autofocus={typed !== null}
      />
      {typed === null ? null : (
        <p class="field-problem" id="confirmation-problem" role="alert">
          Nothing was deleted. Type only the word “{CONFIRMATION_WORD}”.
        </p>
      )}
      <button type="submit" class="danger">
        Delete my account
      </button>
    </form>
  );
}

export function DeletedPage() {
  const { service_name } = currentShell();
  return (
    <Page title="Your account is deleted" without_account_link>
      <h1>Your account is deleted</h1>
      <p role="status" {...FIRST_TO_READ}>
        No browser, app, device or token can use it any more. Its data will be erased within
        minutes.
      </p>
      <p>Thank you for using {service_name}. You can sign in at any time to open a new account.</p>
      <a class="button quiet" href="/signin">
        Go to the sign-in page
      </a>
    </Page>
  );
}
