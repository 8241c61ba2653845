/** The form that makes a personal token, and the page that shows the token once. */
import { AllowanceForm, ALLOWANCE_SCRIPTS } from "../allowance/allowance_form.tsx";
import type { ApprovalProblems, LimitChoices, Offered } from "../allowance/choices.tsx";
import { describedBy, FieldProblem, problemText } from "../allowance/fields.tsx";
import { rich, t, type Said } from "../language/text.tsx";
import { FIRST_TO_READ, Page } from "../layout/layout.tsx";
import { Secret } from "../layout/secret.tsx";
import { number } from "../layout/labels.ts";

export interface NewTokenChoices extends LimitChoices {
  readonly label: string;
  /** When it expires, in days; null: nothing valid was chosen. */
  readonly days: number | null;
}

interface NewTokenPageProps {
  readonly choices: NewTokenChoices;
  readonly problems: ApprovalProblems;
  readonly offered: Offered;
  /** The holder's available credits. */
  readonly balance: number;
  readonly lifetimes: readonly number[];
}

export function NewTokenPage(props: NewTokenPageProps) {
  const { choices, problems, offered, balance, lifetimes } = props;
  const has_problems = Object.keys(problems).length > 0;
  const title = t("Make a token");
  return (
    <Page
      title={has_problems ? t("Error: make a token") : title}
      section="access"
      scripts={ALLOWANCE_SCRIPTS}
    >
      <section class="panel narrow">
        <AllowanceForm
          title={title}
          action="/account/tokens/new"
          choices={choices}
          problems={problems}
          offered={offered}
          balance={balance}
          end={{
            days: choices.days,
            lifetimes_days: lifetimes,
            asked_seconds: null,
            ends_with_session: false,
          }}
          asker={
            <p>
              {t(
                "A program sends a token instead of signing in. Give it only what the program needs: with the token, anyone can do the same.",
              )}
            </p>
          }
          first_fields={<NameField choices={choices} problem={problems.label} />}
          buttons={
            <>
              <button type="submit">{t("Make the token")}</button>
              <a class="button quiet" href="/account/access">
                {t("Cancel")}
              </a>
            </>
          }
        />
      </section>
    </Page>
  );
}

function NameField(props: { readonly choices: NewTokenChoices; problem: Said | undefined }) {
  const { choices, problem } = props;
  return (
    <>
      <label for="label">{t("Name")}</label>
      <FieldProblem id="label_problem" problem={problemText(problem)} />
      <input
        id="label"
        name="label"
        type="text"
        maxlength={80}
        value={choices.label}
        {...describedBy("label_problem", problem, "label_hint")}
      />
      <p class="hint" id="label_hint">
        {t("What it is for, such as “Nightly build”. You see it in the list of your tokens.")}
      </p>
    </>
  );
}

export function MadeTokenPage(props: { label: string; token: string; days: number }) {
  const { label, token, days } = props;
  return (
    <Page title={t("Your new token")} section="access" scripts={["copy.js"]}>
      <section class="panel narrow">
        <h1>{t("Your new token")}</h1>
        <p class="notice" role="status" {...FIRST_TO_READ}>
          {t("Copy the token now. It is not stored, and you cannot see it again.")}
        </p>
        <Secret label={label} text={token} rows={5}>
          <a class="button quiet" href="/account/access">
            {t("Done")}
          </a>
        </Secret>
        <p class="hint">
          {rich("Programs send it as {header}.", { header: <code>Authorization: Bearer</code> })}{" "}
          {days === 1
            ? t("It expires in 1 day; you can revoke it at any time.")
            : t("It expires in {days} days; you can revoke it at any time.", {
                days: number(days),
              })}
        </p>
      </section>
    </Page>
  );
}
