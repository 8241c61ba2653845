/** `GET` and `POST /console/accounts/{identity_id}/credits`: gives or takes credits, after a review step. */
import { accepted, refused, type Result } from "../../domain/result.ts";
import { CreditsPage, ReviewCreditsPage } from "./account_actions_page.tsx";
import { emptyForm, type FormState } from "./form.tsx";
import { holderAccount } from "../../http/api/admin/accounts/holder.ts";
import { adjustCredits, creditsBody } from "../../http/api/admin/accounts/actions.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { accountPathWithNotice, FIELD_LABELS, subjectOf } from "./account_actions.tsx";
import {
  check,
  invalid,
  readForm,
  submit,
  textOf,
  wholeNumberOf,
  type FailedForm,
} from "./forms.ts";

const BELOW_ZERO = "Tick the box to confirm that the balance goes below zero.";
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
  const failed = await submit(
    context,
    form,
    () => adjustCredits(context, { ...adjustment.value, allow_negative, key: form.key }),
    { balance_limit: "amount" },
  );
  if (failed?.code === "balance_below_zero") {
    return showForm(context, invalid(form, { below_zero: BELOW_ZERO }), amount);
  }
  return failed === null
    ? context.redirect(accountPathWithNotice(context, amount > 0 ? "given" : "taken"), 303)
    : showForm(context, failed, null);
});

/** The signed amount and the reason, or the invalid fields. */
function readAdjustment(
  form: FormState,
): Result<{ readonly amount: number; readonly reason: string }, FormState["problems"]> {
  const direction = textOf(form, "direction");
  const amount = wholeNumberOf(form, "amount") * (direction === "take" ? -1 : 1);
  const checked = check(creditsBody, { amount, reason: textOf(form, "reason") }, FIELD_LABELS);
  const problems = {
    ...(["give", "take"].includes(direction) ? {} : { direction: NO_DIRECTION }),
    ...(checked.ok ? {} : checked.refusal),
  };
  return checked.ok && Object.keys(problems).length === 0
    ? accepted(checked.value)
    : refused(problems);
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
