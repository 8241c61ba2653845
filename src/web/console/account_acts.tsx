/** `GET` and `POST /console/accounts/{identity_id}/{act}`: what operators do to one account, by forms. */
import type { OnceAnswer } from "../../account/contract.ts";
import { accepted, type Result } from "../../domain/result.ts";
import { ActPage, type ActSubject } from "./act.tsx";
import { emptyForm, type FormState } from "./form.tsx";
import { accountAddress, consoleAddress } from "./table.tsx";
import { ACCOUNT_ACTS, type AccountAct } from "./words.ts";
import { holderAccount } from "../../http/api/admin/accounts/holder.ts";
import {
  changePlan,
  optionalReasonBody,
  planBody,
  reasonBody,
  rebuildAccount,
  restoreAccount,
  revokePersonalToken,
  signOutAccount,
  suspendAccount,
} from "../../http/api/admin/accounts/actions.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { attempt, check, notDone, optional, readForm, textOf, type NotDone } from "./forms.ts";

export const ACCOUNT_ACT_NAMES = Object.keys(ACCOUNT_ACTS) as readonly AccountAct[];

export const ACT_LABELS = {
  reason: "The reason",
  plan: "The plan",
  amount: "The number of credits",
};

type Performing = Result<() => Promise<OnceAnswer<unknown>>, FormState["problems"]>;

/** What a form asks for, checked as the API checks its bodies, ready to be done. */
const ACTS: Readonly<Record<AccountAct, (context: AppContext, form: FormState) => Performing>> = {
  plan(context, form) {
    const body = { plan: textOf(form, "plan"), reason: textOf(form, "reason") };
    const order = check(planBody, body, ACT_LABELS);
    if (!order.ok) return order;
    return accepted(() => changePlan(context, { ...order.value, key: form.key }));
  },
  suspend: withReason(reasonBody, suspendAccount),
  restore: withReason(reasonBody, restoreAccount),
  signout: withReason(optionalReasonBody, signOutAccount),
  rebuild: (context, { key }) => accepted(() => rebuildAccount(context, { key })),
  "revoke-token": (context, form) =>
    withReason(optionalReasonBody, (_, order) =>
      revokePersonalToken(context, textOf(form, "token_id"), order),
    )(context, form),
};

type WithReason = typeof reasonBody | typeof optionalReasonBody;

function withReason(
  schema: WithReason,
  perform: typeof suspendAccount,
): (context: AppContext, form: FormState) => Performing {
  return (context, form) => {
    const optional_too = schema === optionalReasonBody;
    const body = optional_too ? optional(form, "reason") : { reason: textOf(form, "reason") };
    const order = check(schema, body, ACT_LABELS);
    if (!order.ok) return order;
    return accepted(() => perform(context, { ...order.value, key: form.key }));
  };
}

/** Shows the form of an act. */
export const showAct = (act: AccountAct) =>
  factory.createHandlers((context) => {
    const token_id = context.req.query("token_id");
    const form = emptyForm(token_id === undefined ? {} : { token_id });
    return answerForm(context, act, { form, status: 200 });
  });

/** Does an act, and shows the account with what was done; else the form again. */
export const doAct = (act: AccountAct) =>
  factory.createHandlers(async (context) => {
    const form = await readForm(context);
    const performing = ACTS[act](context, form);
    const not_done = performing.ok
      ? await attempt(context, form, performing.value)
      : notDone(form, performing.refusal);
    return not_done === null
      ? context.redirect(donePage(context, act), 303)
      : answerForm(context, act, not_done);
  });

/** The account's page with what was just done. */
export function donePage(context: AppContext, notice: string): string {
  return consoleAddress(accountAddress(context.get("holder").identity_id), { notice });
}

async function answerForm(
  context: AppContext,
  act: AccountAct,
  { form, status }: NotDone,
): Promise<Response> {
  const inspected = await holderAccount(context).inspect();
  if (!inspected.ok) return refuseWithPage(context, inspected.refusal);
  const token = inspected.value.personal_tokens.find(({ id }) => id === form.values["token_id"]);
  if (act === "revoke-token" && token === undefined && form.problems[""] === undefined) {
    return refuseWithPage(context, { code: "personal_token_not_found" });
  }
  return context.html(
    <ActPage
      act={act}
      subject={subjectOf(context, inspected.value)}
      form={form}
      about={token?.label ?? null}
    />,
    status,
  );
}

/** Whom an act is done to, as the forms show them. */
export function subjectOf(
  context: AppContext,
  it: {
    readonly account: { readonly plan: string; readonly credits: number };
    readonly reserved: number;
  },
): ActSubject {
  const { identity_id, email, name } = context.get("holder");
  const { plan, credits } = it.account;
  return { identity_id, name: email ?? name ?? identity_id, plan, credits, reserved: it.reserved };
}
