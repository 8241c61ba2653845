/** Deleting the account: what goes with it, the word that does it, and the farewell. */
import { Page } from "../layout/layout.tsx";
import { shellOf } from "../layout/shell.ts";
import { counted, credits, holdSentence } from "../layout/account_words.ts";

/** What a person types to delete their account. */
export const CONFIRMATION_WORD = "delete";

/**
 * What goes with the account. `reserved`: credits held for its open jobs; `owed`: credits that its holder
 * still owes once those have come back, and that do not go.
 */
export interface Lost {
  readonly credits: number;
  readonly reserved: number;
  readonly owed: number;
  readonly open_jobs: number;
  readonly tokens: number;
}

export interface DeletePageProps {
  /** Their address or name; null where neither is known. */
  readonly whose: string | null;
  readonly lost: Lost;
  /** Whether credits are sold here. */
  readonly sells: boolean;
  readonly is_operator: boolean;
  /** What was typed instead of the word; null where nothing was. */
  readonly typed: string | null;
}

export function DeletePage({ whose, lost, sells, is_operator, typed }: DeletePageProps) {
  const held = holdSentence(lost.reserved, lost.open_jobs);
  const { owed } = lost;
  return (
    <Page title="Delete your account" leads_on>
      <h1>Delete your account</h1>
      <p>
        {whose === null ? null : (
          <>
            The account of <strong class="host">{whose}</strong> is deleted at once.{" "}
          </>
        )}
        This cannot be undone.
      </p>
      <h2>You lose</h2>
      <ul>
        {lost.credits < 0 ? null : (
          <li>
            {credits(lost.credits)}
            {sells ? ", bought ones too: nothing is paid back" : null}
          </li>
        )}
        {held === null ? null : <li>{held}, perhaps without a result</li>}
        <li>
          every sign-in, in browsers and apps
          {lost.tokens === 0 ? null : (
            <>, and the access of {counted(lost.tokens, "device or token", "devices and tokens")}</>
          )}
        </li>
        <li>your jobs and statement, your name and e-mail address</li>
      </ul>
      <h2>What stays</h2>
      <ul>
        <li>what apps made for you: ask them to delete it</li>
        <li>a code that names nobody, so that starter credits come only once if you return</li>
        {owed === 0 ? null : <li>a debt of {credits(owed)}: you owe it again if you return</li>}
      </ul>
      {is_operator ? (
        <p class="problem">
          You operate this service. If its settings name you by your identity id, a new sign-in is
          no operator until they name your new one.
        </p>
      ) : null}
      <p>
        <a href="/account/data.json" download>
          Download my data
        </a>{" "}
        first, if you want to keep it.
      </p>
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
            Nothing was deleted. The word is “{CONFIRMATION_WORD}”, and nothing else.
          </p>
        )}
        <button type="submit" class="danger">
          Delete my account
        </button>
      </form>
      <a class="button quiet" href="/account">
        Keep my account
      </a>
    </Page>
  );
}

export function DeletedPage() {
  const { service_name } = shellOf();
  return (
    <Page title="Your account is deleted" leads_on>
      <h1>Your account is deleted</h1>
      <p role="status">
        No browser, app, device or token can use it any more. What was kept in it goes within
        minutes.
      </p>
      <p>Thank you for having been here. You can come back to {service_name}, and begin anew.</p>
      <a class="button quiet" href="/signin">
        Go to the sign-in page
      </a>
    </Page>
  );
}
