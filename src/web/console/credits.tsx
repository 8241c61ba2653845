/** `GET` and `POST /console/accounts/{identity_id}/credits`: credits given or taken, looked at before they are. */
import { accepted, refused, type Result } from "../../domain/result.ts";
import { CreditsPage, ReviewCreditsPage } from "./act.tsx";
import { emptyForm, type FormState } from "./form.tsx";
import { holderAccount } from "../../http/api/admin/accounts/holder.ts";
import { adjustCredits, creditsBody } from "../../http/api/admin/accounts/actions.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { ACT_LABELS, donePage, subjectOf } from "./account_acts.tsx";
import { attempt, check, notDone, readForm, textOf, wholeOf, type NotDone } from "./forms.ts";

const BELOW_ZERO = "Tick the box if the balance is to go below zero.";
const NO_DIRECTION = "Choose whether to give or to take.";

export const showCredits = factory.createHandlers((context) =>
  answerForm(context, { form: emptyForm(), status: 200 }, null),
);

export const doCredits = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const order = readOrder(form);
  if (!order.ok) return answerForm(context, notDone(form, order.refusal), null);
  const { amount } = order.value;
  if (form.values["confirmed"] !== "yes") {
    return answerForm(context, { form, status: 200 }, amount);
  }
  const allow_negative = form.values["below_zero"] === "yes";
  const not_done = await attempt(
    context,
    form,
    () => adjustCredits(context, { ...order.value, allow_negative, key: form.key }),
    { balance_limit: "amount" },
  );
  if (not_done?.code === "balance_below_zero") {
    return answerForm(context, notDone(form, { below_zero: BELOW_ZERO }), amount);
  }
  return not_done === null
    ? context.redirect(donePage(context, amount > 0 ? "given" : "taken"), 303)
    : answerForm(context, not_done, null);
});

/** A signed amount and why, or what is wrong. */
function readOrder(
  form: FormState,
): Result<{ readonly amount: number; readonly reason: string }, FormState["problems"]> {
  const direction = textOf(form, "direction");
  const amount = wholeOf(form, "amount") * (direction === "take" ? -1 : 1);
  const order = check(creditsBody, { amount, reason: textOf(form, "reason") }, ACT_LABELS);
  const unclear = ["give", "take"].includes(direction) ? {} : { direction: NO_DIRECTION };
  const problems = { ...unclear, ...(order.ok ? {} : order.refusal) };
  return order.ok && Object.keys(problems).length === 0 ? accepted(order.value) : refused(problems);
}

/** `amount`: to be confirmed; null: to be typed. */
async function answerForm(
  context: AppContext,
  { form, status }: NotDone,
  amount: number | null,
): Promise<Response> {
  const inspected = await holderAccount(context).inspect();
  if (!inspected.ok) return refuseWithPage(context, inspected.refusal);
  const subject = subjectOf(context, inspected.value);
  return amount === null
    ? context.html(<CreditsPage subject={subject} form={form} />, status)
    : context.html(<ReviewCreditsPage {...{ subject, form, amount }} />, status);
}
