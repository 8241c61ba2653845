/** `GET` and `POST /console/accounts/{identity_id}/{action}`: the forms of operators' actions on an account. */
import type { InspectedAccount, OnceAnswer } from "../../account/contract.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { holderAccount, holderId } from "../../http/caller/holder.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { respondWithExport } from "../../http/person_data.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import * as account from "../../operator/account_actions.ts";
import { deleteAccount, deletionBody } from "../../operator/account_privacy.ts";
import type { Acting } from "../../operator/acting.ts";
import {
  optionalReasonBody,
  reasonBody,
  type ActionRequest,
} from "../../operator/audited_action.ts";
import type { PlanRecord } from "../../operator/save_plan.ts";
import { nameFromSlug } from "../layout/labels.ts";
import {
  emptyForm,
  type FormState,
  ActionForm,
  Field,
  FormPage,
  PublicReason,
  Reason,
} from "./form.tsx";
import { check, invalid, optional, readForm, submit, textOf, type FailedForm } from "./forms.ts";
import { ACCOUNT_ACTIONS, type AccountAction, DANGEROUS_ACTIONS } from "./labels.ts";
import { accountPath, consolePath } from "./table.tsx";

export const ACCOUNT_ACTION_NAMES = Object.keys(ACCOUNT_ACTIONS) as readonly AccountAction[];

export const FIELD_LABELS = {
  reason: "The reason",
  public_reason: "The text for the holder",
  plan: "The plan",
  amount: "The number of credits",
  app_slugs: "The list of apps",
  confirm: "The identity",
};

/** The action, ready to run, or the invalid fields. */
type Checked = Result<(acting: Acting) => Promise<OnceAnswer<unknown>>, FormState["problems"]>;

type CheckForm = (context: AppContext, form: FormState) => Checked;

/** Checks a form with the API's own schema of the same action. */
const ACTIONS: Readonly<Record<AccountAction, CheckForm>> = {
  plan(context, form) {
    const body = { plan: textOf(form, "plan"), reason: textOf(form, "reason") };
    const checked = check(account.planBody, body, FIELD_LABELS);
    if (!checked.ok) return checked;
    const request = { ...checked.value, key: form.key };
    return accepted((acting) => account.setPlan(acting, holderId(context), request));
  },
  suspend(context, form) {
    const body = { reason: textOf(form, "reason"), ...optional(form, "public_reason") };
    const checked = check(account.suspendBody, body, FIELD_LABELS);
    if (!checked.ok) return checked;
    const request = { ...checked.value, key: form.key };
    return accepted((acting) => account.suspend(acting, holderId(context), request));
  },
  restore: withReason(reasonBody, account.restore),
  signout: withReason(optionalReasonBody, account.signOut),
  rebuild: withReason(optionalReasonBody, account.rebuild),
  "revoke-token": (context, form) =>
    withReason(optionalReasonBody, (acting, identity_id, request) =>
      account.revokeToken(acting, identity_id, textOf(form, "token_id"), request),
    )(context, form),
  export: (context, form) =>
    withReason(reasonBody, (_, __, request) => respondWithExport(context, request))(context, form),
  delete(context, form) {
    const body = { confirm: textOf(form, "confirm"), reason: textOf(form, "reason") };
    const checked = check(deletionBody, body, FIELD_LABELS);
    const identity_id = holderId(context);
    const is_confirmed = body.confirm === identity_id;
    const problems = {
      ...(is_confirmed ? {} : { confirm: "The identity is not the one of this account." }),
      ...(checked.ok ? {} : checked.refusal),
    };
    if (!checked.ok || !is_confirmed) return refused(problems);
    const request = { reason: checked.value.reason, key: form.key };
    return accepted((acting) => deleteAccount(acting, identity_id, request));
  },
};

function withReason(
  schema: typeof reasonBody | typeof optionalReasonBody,
  perform: (
    acting: Acting,
    identity_id: string,
    request: ActionRequest,
  ) => Promise<OnceAnswer<unknown>>,
): CheckForm {
  return (context, form) => {
    const may_be_empty = schema === optionalReasonBody;
    const body = may_be_empty ? optional(form, "reason") : { reason: textOf(form, "reason") };
    const checked = check(schema, body, FIELD_LABELS);
    if (!checked.ok) return checked;
    const request = { ...checked.value, key: form.key };
    return accepted((acting) => perform(acting, holderId(context), request));
  };
}

export const showAction = (action: AccountAction) =>
  factory.createHandlers((context) => {
    const token_id = context.req.query("token_id");
    const form = emptyForm(token_id === undefined ? {} : { token_id });
    return showForm(context, action, { form, status: 200 });
  });

/** Redirects with a notice or, if the action has a response, sends that; or shows the form again with its problems. */
export const doAction = (action: AccountAction) =>
  factory.createHandlers(async (context) => {
    const form = await readForm(context);
    const checked = ACTIONS[action](context, form);
    if (!checked.ok) return showForm(context, action, invalid(form, checked.refusal));
    const done = await submit(context, form, checked.value);
    if (!done.ok) return showForm(context, action, done.refusal);
    if (done.value instanceof Response) return done.value;
    const path =
      action === "delete"
        ? consolePath("/console/accounts", { notice: action })
        : accountPathWithNotice(context, action);
    return context.redirect(path, 303);
  });

export function accountPathWithNotice(context: AppContext, notice: string): string {
  return consolePath(accountPath(holderId(context)), { notice });
}

async function showForm(
  context: AppContext,
  action: AccountAction,
  { form, status }: FailedForm,
): Promise<Response> {
  const inspected = await holderAccount(context).inspect();
  if (!inspected.ok) return refuseWithPage(context, inspected.refusal);
  const token = inspected.value.allowances.find(({ id }) => id === form.values["token_id"]);
  if (action === "revoke-token" && token === undefined && form.problems[""] === undefined) {
    return refuseWithPage(context, { code: "personal_token_not_found" });
  }
  const subject = subjectOf(context, inspected.value);
  const { title, button, effect, reason_hint } = ACCOUNT_ACTIONS[action];
  return context.html(
    <FormPage title={title} form={form} {...pagePropsOf(subject)}>
      {token === undefined ? null : (
        <p>
          <strong>{token.label}</strong>
        </p>
      )}
      <p>{effect}</p>
      <ActionForm
        action={accountPath(subject.identity_id, action)}
        form={form}
        button={button}
        danger={DANGEROUS_ACTIONS.includes(action)}
        back={accountPath(subject.identity_id)}
      >
        {action === "plan" ? (
          <PlanField form={form} current={subject.plan} plans={await savedPlans(context)} />
        ) : null}
        {action === "revoke-token" ? (
          <input type="hidden" name="token_id" value={form.values["token_id"] ?? ""} />
        ) : null}
        {action === "delete" ? (
          <Field
            form={form}
            name="confirm"
            label="The identity of the account, to confirm"
            spellcheck={false}
            hint={<code>{subject.identity_id}</code>}
          />
        ) : null}
        {reason_hint === null ? null : <Reason form={form} hint={reason_hint} />}
        {action === "suspend" ? <PublicReason form={form} /> : null}
      </ActionForm>
    </FormPage>,
    status,
  );
}

/** The saved plans, to choose from. None if the directory does not respond: the list only helps. */
function savedPlans(context: AppContext): Promise<readonly Pick<PlanRecord, "id" | "name">[]> {
  return context
    .get("services")
    .plan_records.list()
    .catch(() => []);
}

/** The account that an action is for. */
export function subjectOf(context: AppContext, { account, held }: InspectedAccount) {
  const { identity_id, email, name } = context.get("holder");
  const { plan, credits } = account;
  return { identity_id, name: email ?? name ?? identity_id, plan, credits, held };
}

export type ActionSubject = ReturnType<typeof subjectOf>;

/** The parts of the page that name the account. */
export function pagePropsOf({ identity_id, name }: ActionSubject) {
  return { section: "accounts", about: { href: accountPath(identity_id), name } } as const;
}

interface PlanFieldProps {
  readonly form: FormState;
  readonly current: string;
  readonly plans: readonly Pick<PlanRecord, "id" | "name">[];
}

/** A plan from the list, or any other. */
function PlanField({ form, current, plans }: PlanFieldProps) {
  return (
    <>
      <Field
        form={form}
        name="plan"
        label="New plan"
        list="plans"
        // Firefox shows no list in a field without autocompletion.
        autocomplete="on"
        hint={`The current plan is ${nameFromSlug(current)} (${current}). Choose a saved plan, which brings its credits. Another name in lowercase letters and digits brings none.`}
      />
      <datalist id="plans">
        {plans.map(({ id, name }) => (
          <option value={id}>{name}</option>
        ))}
      </datalist>
    </>
  );
}
