/** The form that makes a personal token, and the page that shows the token once. */
import {
  LimitFields,
  Summary,
  type ApprovalProblems,
  type LimitChoices,
  type Offered,
} from "../device/choices.tsx";
import { describedBy, FieldProblem } from "../device/fields.tsx";
import { FIRST_TO_READ, Page } from "../layout/layout.tsx";
import { Secret } from "../layout/secret.tsx";
import { counted } from "../layout/labels.ts";

export interface NewTokenChoices extends LimitChoices {
  readonly label: string;
  /** When it expires, in days; null: nothing valid was chosen. */
  readonly days: number | null;
}

export interface NewTokenPageProps {
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
  return (
    <Page
      title={has_problems ? "Error: make a token" : "Make a token"}
      section="connections"
      scripts={["forms.js"]}
    >
      <section class="panel narrow">
        <Summary problems={problems} />
        <h1>Make a token</h1>
        <p>
          A program sends a token instead of signing in. Give it only what the program needs: with
          the token, anyone can do the same.
        </p>
        <form method="post" action="/account/tokens/new" autocomplete="off">
          <label for="label">Name</label>
          <FieldProblem id="label_problem" problem={problems.label} />
          <input
            id="label"
            name="label"
            type="text"
            maxlength={80}
            value={choices.label}
            {...describedBy("label_problem", problems.label, "label_hint")}
          />
          <p class="hint" id="label_hint">
            What it is for, such as “Nightly build”. You see it in the list of your tokens.
          </p>
          <LimitFields choices={choices} problems={problems} offered={offered} balance={balance} />
          <fieldset>
            <legend>When it expires</legend>
            <FieldProblem id="days_problem" problem={problems.days} />
            <label class="unseen" for="days">
              Lifetime
            </label>
            <select id="days" name="days" {...describedBy("days_problem", problems.days)}>
              {lifetimes.map((days) => (
                <option value={days} selected={days === choices.days}>
                  in {counted(days, "day", "days")}
                </option>
              ))}
            </select>
          </fieldset>
          <div class="acts next">
            <button type="submit">Make the token</button>
            <a class="button quiet" href="/account/connections">
              Cancel
            </a>
          </div>
        </form>
      </section>
    </Page>
  );
}

export function MadeTokenPage(props: { label: string; token: string; days: number }) {
  const { label, token, days } = props;
  return (
    <Page title="Your new token" section="connections" scripts={["copy.js"]}>
      <section class="panel narrow">
        <h1>Your new token</h1>
        <p class="notice" role="status" {...FIRST_TO_READ}>
          Copy the token now. It is not stored, and you cannot see it again.
        </p>
        <Secret label={label} text={token} rows={5}>
          <a class="button quiet" href="/account/connections">
            Done
          </a>
        </Secret>
        <p class="hint">
          Programs send it as <code>Authorization: Bearer</code>. It expires in{" "}
          {counted(days, "day", "days")}; you can revoke it at any time.
        </p>
      </section>
    </Page>
  );
}
