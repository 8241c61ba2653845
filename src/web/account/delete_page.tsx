/** The form that deletes the account, and the page after it. */
import type { Language } from "../../domain/language.ts";
import { rich, t } from "../language/text.tsx";
import { FIRST_TO_READ, Page } from "../layout/layout.tsx";
import { currentShell } from "../layout/shell.ts";
import { counted, credits, holdSentence } from "../layout/labels.ts";

/** The word that a person types to delete their account, in the language of the page. Each is accepted in any language. */
const CONFIRMATION_WORDS: Readonly<Record<Language, string>> = { en: "delete", de: "löschen" };

/** Phone keyboards add a capital letter at the start and a space at the end. */
export function isConfirmed(typed: string): boolean {
  const word = typed.normalize().trim().toLowerCase();
  return Object.values(CONFIRMATION_WORDS).includes(word);
}

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
    <Page title={t("Delete your account")} without_account_link>
      <h1>{t("Delete your account")}</h1>
      <p>
        {holder === null ? null : (
          <>
            {rich("The account of {holder} will be deleted immediately.", {
              holder: <strong class="host">{holder}</strong>,
            })}{" "}
          </>
        )}
        {t("This cannot be undone.")}
      </p>
      <h2>{t("You lose")}</h2>
      <Losses lost={lost} sells={sells} />
      <h2>{t("What stays")}</h2>
      <ul>
        <li>{t("everything that apps made for you: ask each app to delete it")}</li>
        <li>
          {t(
            "an anonymous code, so that you do not get starter credits again if you open a new account",
          )}
        </li>
        {owed === 0 ? null : (
          <li>
            {t("a debt of {credits}: you owe it again if you open a new account", {
              credits: credits(owed),
            })}
          </li>
        )}
      </ul>
      {is_operator ? (
        <p class="problem">
          {t(
            "You operate this service. If OPERATORS contains your identity id, you lose operator access until someone adds the identity id of your new account.",
          )}
        </p>
      ) : null}
      <p>
        {rich("If you want to keep a copy, first {download}.", {
          download: (
            <a href="/account/data.json" download>
              {t("download your data")}
            </a>
          ),
        })}
      </p>
      <Confirmation typed={typed} />
      <a class="button quiet" href="/account">
        {t("Keep my account")}
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
          {sells
            ? t("{credits}, including credits that you bought, without a refund", {
                credits: credits(lost.credits),
              })
            : credits(lost.credits)}
        </li>
      )}
      {held === null ? null : <li>{t("{held}, which may not finish", { held })}</li>}
      <li>
        {lost.tokens === 0
          ? t("access from every browser and app where you are signed in")
          : t("access from every browser and app where you are signed in, and from {devices}", {
              devices: counted(lost.tokens, "device or token", "devices and tokens"),
            })}
      </li>
      <li>{t("your jobs and statement, your name and e-mail address")}</li>
    </ul>
  );
}

function Confirmation({ typed }: Pick<DeletePageProps, "typed">) {
  const word = CONFIRMATION_WORDS[currentShell().language];
  return (
    <form method="post" action="/account/delete">
      <label for="confirmation">{rich("Type {word} to confirm", { word: <q>{word}</q> })}</label>
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
          {t("Nothing was deleted. Type only the word “{word}”.", { word })}
        </p>
      )}
      <button type="submit" class="danger">
        {t("Delete my account")}
      </button>
    </form>
  );
}

export function DeletedPage() {
  const { service_name } = currentShell();
  return (
    <Page title={t("Your account is deleted")} without_account_link>
      <h1>{t("Your account is deleted")}</h1>
      <p role="status" {...FIRST_TO_READ}>
        {t(
          "No browser, app, device or token can use it any more. Its data will be erased within minutes, or within a day if an app or a part of the service does not respond.",
        )}
      </p>
      <p>
        {t(
          "Thank you for using {service_name}. You can sign in at any time to open a new account.",
          {
            service_name,
          },
        )}
      </p>
      <a class="button quiet" href="/signin">
        {t("Go to the sign-in page")}
      </a>
    </Page>
  );
}
