/** `GET` and `POST /console/accounts/{identity_id}/credits`: gives or takes credits, after a review step. */
import type * as z from "zod/mini";
import { DAY_MS } from "../../domain/calendar.ts";
import { readMoney } from "../../domain/currency.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { timestamp } from "../../domain/wire.ts";
import { holderAccount, holderId } from "../../http/caller/holder.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { adjustCredits, creditsBody } from "../../operator/account_actions.ts";
import { Choice } from "../allowance/fields.tsx";
import { credits, number, signed } from "../layout/labels.ts";
import {
  accountPathWithNotice,
  FIELD_LABELS,
  pagePropsOf,
  subjectOf,
  type ActionSubject,
} from "./account_actions.tsx";
import {
  ActionForm,
  Choices,
  emptyForm,
  Field,
  FormPage,
  Reason,
  type FormState,
} from "./form.tsx";
import {
  check,
  entriesOf,
  invalid,
  readForm,
  submit,
  textOf,
  wholeNumberOf,
  type FailedForm,
} from "./forms.ts";
import { accountPath } from "./table.tsx";

const BELOW_ZERO = "Tick the box to confirm that the balance goes below zero.";
const NOT_A_DAY = "The last day must be a day such as 2026-11-21, and not in the past.";
const NOT_PAID = "It must be such as 20.00 EUR, and only for credits that the person paid for.";
const NO_DIRECTION = "Choose whether to give or take credits.";

export const showCredits = factory.createHandlers((context) =>
  showForm(context, { form: emptyForm(), status: 200 }, null),
);

export const doCredits = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const adjustment = readAdjustment(form);
  if (!adjustment.ok) return showForm(context, invalid(form, adjustment.refusal), null);
  const { amount } = adjustment.value;
  if (form.values["confirmed"] !== "yes") {
    return showForm(context, { form, status: 200 }, amount);
  }
  const allow_negative = form.values["below_zero"] === "yes";
  const request = { ...adjustment.value, allow_negative, key: form.key };
  const done = await submit(
    context,
    form,
    (acting) => adjustCredits(acting, holderId(context), request),
    { balance_limit: "amount", too_many_lots: "until" },
  );
  if (done.ok) {
    return context.redirect(accountPathWithNotice(context, amount > 0 ? "given" : "taken"), 303);
  }
  return done.refusal.code === "balance_below_zero"
    ? showForm(context, invalid(form, { below_zero: BELOW_ZERO }), amount)
    : showForm(context, done.refusal, null);
});

/** The signed amount and the reason, or the invalid fields. */
function readAdjustment(
  form: FormState,
): Result<z.output<typeof creditsBody>, FormState["problems"]> {
  const direction = textOf(form, "direction");
  const amount = wholeNumberOf(form, "amount") * (direction === "take" ? -1 : 1);
  const terms = direction === "give" ? readTerms(form) : {};
  const body = { amount, ...terms, reason: textOf(form, "reason") };
  const checked = check(creditsBody, body, FIELD_LABELS, form);
  const problems = {
    ...(["give", "take"].includes(direction) ? {} : { direction: NO_DIRECTION }),
    ...(checked.ok ? {} : atFields(checked.refusal)),
  };
  return checked.ok && Object.keys(problems).length === 0
    ? accepted(checked.value)
    : refused(problems);
}

/** The terms of credits that are given. A day means its end in UTC. */
function readTerms(form: FormState) {
  const until = textOf(form, "until");
  const day_ms = /^\d{4}-\d{2}-\d{2}$/.test(until) ? Date.parse(`${until}T00:00:00Z`) : Number.NaN;
  const is_over = Number.isNaN(day_ms) || day_ms + DAY_MS <= Date.now();
  // A text that is not a time is refused.
  const expires_at = is_over ? until : timestamp(day_ms + DAY_MS);
  const app_slugs = entriesOf(form, "app_slugs").map(({ entry }) => entry);
  return {
    ...(until === "" ? {} : { expires_at }),
    ...(app_slugs.length === 0 ? {} : { app_slugs }),
    ...(form.values["bought"] === "yes" ? { bought: true } : {}),
    ...readPrice(form),
  };
}

/** What was paid, such as "20.00 EUR". What is not an amount becomes 0, which is refused. */
function readPrice(form: FormState) {
  const [paid = "", currency = ""] = textOf(form, "paid").toLowerCase().split(" ");
  return paid === "" ? {} : { paid_minor: readMoney(paid, currency) ?? 0, currency };
}

/** The form's fields for the end of the credits and the payment are texts. */
function atFields({ expires_at, paid_minor, currency, ...problems }: FormState["problems"]) {
  return {
    ...problems,
    ...(expires_at === undefined ? {} : { until: NOT_A_DAY }),
    ...((paid_minor ?? currency) === undefined ? {} : { paid: NOT_PAID }),
  };
}

/** `amount`: the amount to confirm; null: the first step, where it is typed. */
async function showForm(
  context: AppContext,
  { form, status }: FailedForm,
  amount: number | null,
): Promise<Response> {
  const inspected = await holderAccount(context).inspect();
  if (!inspected.ok) return refuseWithPage(context, inspected.refusal);
  const subject = subjectOf(context, inspected.value);
  return amount === null
    ? context.html(<CreditsPage subject={subject} form={form} />, status)
    : context.html(<ReviewCreditsPage {...{ subject, form, amount }} />, status);
}

interface CreditsPageProps {
  readonly subject: ActionSubject;
  readonly form: FormState;
}

/** The first step: the amount and the reason. */
function CreditsPage({ subject, form }: CreditsPageProps) {
  return (
    <FormPage title="Give or take credits" form={form} {...pagePropsOf(subject)}>
      <p>
        The balance is <strong>{credits(subject.credits)}</strong>
        {subject.held === 0 ? "" : `, and ${number(subject.held)} more held`}. The next page shows
        the new balance before anything is changed.
      </p>
      <ActionForm
        action={accountPath(subject.identity_id, "credits")}
        form={form}
        button="Review"
        back={accountPath(subject.identity_id)}
      >
        <Choices
          form={form}
          name="direction"
          legend="Action"
          options={[
            ["give", "Give credits"],
            ["take", "Take credits away"],
          ]}
        />
        <Field form={form} name="amount" label="Number of credits" inputmode="numeric" />
        <TermsFields form={form} />
        <Reason
          form={form}
          hint="The account’s holder sees this in their statement. It is also kept in the audit log."
        />
      </ActionForm>
    </FormPage>
  );
}

/** The terms of credits that are given. */
function TermsFields({ form }: { form: FormState }) {
  return (
    <>
      <Field
        form={form}
        name="until"
        label="Last day, if they expire"
        placeholder="YYYY-MM-DD"
        hint="What is left expires at the end of this day in UTC. Empty: the credits never expire. Only for credits that you give."
      />
      <Field
        form={form}
        name="app_slugs"
        label="Only in these apps"
        hint="The apps’ slugs, with spaces between them. Empty: all apps. Only for credits that you give."
      />
      <Choice type="checkbox" name="bought" value="yes" checked={form.values["bought"] === "yes"}>
        The person paid for them
      </Choice>
      <Field
        form={form}
        name="paid"
        label="What they paid"
        placeholder="20.00 EUR"
        hint="Counts as sales, and at month end. Empty: the price is unknown."
      />
    </>
  );
}

interface ReviewCreditsProps extends CreditsPageProps {
  /** Negative if credits are taken. */
  readonly amount: number;
}

/** The second step: the new balance, to confirm. */
function ReviewCreditsPage({ subject, form, amount }: ReviewCreditsProps) {
  const after = subject.credits + amount;
  const giving = amount > 0;
  const change = credits(Math.abs(amount));
  const { direction = "", amount: typed = "", reason = "" } = form.values;
  const values = giving ? form.values : {};
  const { until = "", app_slugs = "", bought = "", paid = "" } = values;
  const terms = { until, app_slugs, bought, paid };
  const sent = { direction, amount: typed, ...terms, reason, confirmed: "yes" };
  return (
    <FormPage
      title={giving ? `Give ${change}?` : `Take ${change}?`}
      form={form}
      {...pagePropsOf(subject)}
    >
      <dl class="sums">
        <div>
          <dt>Now</dt>
          <dd>{number(subject.credits)}</dd>
        </div>
        <div>
          <dt>Change</dt>
          <dd>{signed(amount)}</dd>
        </div>
        <div>
          <dt>After</dt>
          <dd class={after < 0 ? "is-negative" : undefined}>{number(after)}</dd>
        </div>
      </dl>
      {until === "" ? null : <p>What is left expires at the end of {until} (UTC).</p>}
      {app_slugs.trim() === "" ? null : <p>Only these apps can use them: {app_slugs}</p>}
      {bought === "yes" ? <p>They count as bought.</p> : null}
      {paid === "" ? null : <p>The person paid {paid.toUpperCase()} for them.</p>}
      <p>
        The account’s holder will see this reason: <q>{reason}</q>
      </p>
      <ActionForm
        action={accountPath(subject.identity_id, "credits")}
        form={form}
        button={giving ? `Give ${change}` : `Take ${change}`}
        danger={!giving}
        back={accountPath(subject.identity_id)}
      >
        {Object.entries(sent).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        {after < 0 && !giving ? <BelowZero form={form} /> : null}
      </ActionForm>
    </FormPage>
  );
}

/** Taking credits below zero needs its own confirmation. */
function BelowZero({ form }: { form: FormState }) {
  const problem = form.problems["below_zero"];
  return (
    <>
      <p class="hint" id="below_zero-hint">
        The account will owe credits. Its apps cannot start jobs until the balance is above zero
        again.
      </p>
      <Choice
        type="checkbox"
        id="below_zero"
        name="below_zero"
        value="yes"
        aria-describedby="below_zero-hint"
        {...(problem === undefined ? {} : { "aria-invalid": "true" })}
      >
        Take them even though the balance goes below zero
      </Choice>
    </>
  );
}
