/** The form that changes a connection's name, limits and apps. */
import type { ListedAllowance } from "../../account/contract.ts";
import { maySpend } from "../../domain/allowance.ts";
import { CapChoice } from "../allowance/cap_choice.tsx";
import {
  AppsChoice,
  Summary,
  type ApprovalProblems,
  type LimitChoices,
  type RegisteredApp,
} from "../allowance/choices.tsx";
import { describedBy, FieldProblem, problemText } from "../allowance/fields.tsx";
import { t } from "../language/text.tsx";
import { Page } from "../layout/layout.tsx";

export interface EditChoices extends LimitChoices {
  readonly label: string;
}

interface EditPageProps {
  readonly allowance: ListedAllowance;
  readonly choices: EditChoices;
  readonly problems: ApprovalProblems;
  readonly registered_apps: readonly RegisteredApp[];
}

export function EditPage({ allowance, choices, problems, registered_apps }: EditPageProps) {
  const title = t("Edit “{name}”", { name: allowance.label });
  const has_problems = Object.keys(problems).length > 0;
  const { access } = allowance.limits;
  return (
    <Page
      title={has_problems ? t("Error: {title}", { title }) : title}
      section="access"
      scripts={["forms.js"]}
    >
      <section class="panel narrow">
        <Summary problems={problems} heading="Nothing was changed." />
        <h1>{title}</h1>
        <p>
          {t("The change applies from its next request.")}{" "}
          {allowance.parent_id === null
            ? t("What is spent stays spent.")
            : t("It never gets more than the connection that it comes from.")}
        </p>
        <form method="post" action="/account/access/edit" autocomplete="off">
          <input type="hidden" name="id" value={allowance.id} />
          <label for="label">{t("Name")}</label>
          <FieldProblem id="label_problem" problem={problemText(problems.label)} />
          <input
            id="label"
            name="label"
            type="text"
            maxlength={80}
            value={choices.label}
            {...describedBy("label_problem", problems.label)}
          />
          {maySpend(allowance.scopes) ? (
            <CapChoice {...choices} problem={problems.credits} />
          ) : null}
          {access === "none" ? null : (
            <AppsChoice choices={choices} problems={problems} registered_apps={registered_apps} />
          )}
          <div class="acts next">
            <button type="submit">{t("Save")}</button>
            <a class="button quiet" href="/account/access">
              {t("Cancel")}
            </a>
          </div>
        </form>
      </section>
    </Page>
  );
}
