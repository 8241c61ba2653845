/** `GET` and `POST /console/accounts/{identity_id}/{action}`: the forms of operators' actions on an account. */
import type { InspectedAccount, OnceAnswer } from "../../account/contract.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { ActionPage, type ActionSubject } from "./account_actions_page.tsx";
import { emptyForm, type FormState } from "./form.tsx";
import { accountPath, consolePath } from "./table.tsx";
import { ACCOUNT_ACTIONS, type AccountAction } from "./labels.ts";
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
import {
  confirmationProblem,
  deleteAccount,
  deletionBody,
  exportAccount,
} from "../../http/api/admin/accounts/privacy.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { check, invalid, optional, readForm, submit, textOf, type FailedForm } from "./forms.ts";

export const ACCOUNT_ACTION_NAMES = Object.keys(ACCOUNT_ACTIONS) as readonly AccountAction[];

/** The changes of plans that the form's list of plans comes from: enough for every plan in use, and one query. */
const PLAN_CHANGES_READ = 200;

export const FIELD_LABELS = {
  reason: "The reason",
  plan: "The plan",
  amount: "The number of credits",
  confirm: "The identity",
};

/** The action, ready to run, or the invalid fields. */
type Checked = Result<() => Promise<OnceAnswer<unknown>>, FormState["problems"]>;

/** Checks a form with the API's own schema of the same action. */
const ACTIONS: Readonly<Record<AccountAction, (context: AppContext, form: FormState) => Checked>> =
  {
    plan(context, form) {
      const body = { plan: textOf(form, "plan"), reason: textOf(form, "reason") };
      const checked = check(planBody, body, FIELD_LABELS);
      if (!checked.ok) return checked;
      return accepted(() => changePlan(context, { ...checked.value, key: form.key }));
    },
    suspend: withReason(reasonBody, suspendAccount),
    restore: withReason(reasonBody, restoreAccount),
    signout: withReason(optionalReasonBody, signOutAccount),
    rebuild: (context, { key }) => accepted(() => rebuildAccount(context, { key })),
    "revoke-token": (context, form) =>
      withReason(optionalReasonBody, (_, request) =>
        revokePersonalToken(context, textOf(form, "token_id"), request),
      )(context, form),
    export: withReason(reasonBody, exportAccount),
    delete(context, form) {
      const body = { confirm: textOf(form, "confirm"), reason: textOf(form, "reason") };
      const checked = check(deletionBody, body, FIELD_LABELS);
      const wrong = confirmationProblem(context.get("holder").identity_id, body.confirm);
      const problems = {
        ...(wrong === null ? {} : { confirm: NOT_CONFIRMED }),
        ...(checked.ok ? {} : checked.refusal),
      };
      if (!checked.ok || wrong !== null) return refused(problems);
      return accepted(() => deleteAccount(context, { ...checked.value, key: form.key }));
    },
  };

const NOT_CONFIRMED = "The identity is not the one of this account.";

type WithReason = typeof reasonBody | typeof optionalReasonBody;

function withReason(
  schema: WithReason,
  perform: (
    context: AppContext,
    options: { readonly reason?: string | undefined; readonly key: string },
  ) => Promise<OnceAnswer<unknown>>,
): (context: AppContext, form: FormState) => Checked {
  return (context, form) => {
    const may_be_empty = schema === optionalReasonBody;
    const body = may_be_empty ? optional(form, "reason") : { reason: textOf(form, "reason") };
    const checked = check(schema, body, FIELD_LABELS);
    if (!checked.ok) return checked;
    return accepted(() => perform(context, { ...checked.value, key: form.key }));
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
    let value: unknown;
    const failed = await submit(context, form, async () => {
      const done = await checked.value();
      if (done.ok) ({ value } = done.value);
      return done;
    });
    if (failed !== null) return showForm(context, action, failed);
    if (value instanceof Response) return value;
    const path =
      action === "delete"
        ? consolePath("/console/accounts", { notice: action })
        : accountPathWithNotice(context, action);
    return context.redirect(path, 303);
  });

export function accountPathWithNotice(context: AppContext, notice: string): string {
  return consolePath(accountPath(context.get("holder").identity_id), { notice });
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
  return context.html(
    <ActionPage
      action={action}
      subject={subjectOf(context, inspected.value)}
      form={form}
      token_label={token?.label ?? null}
      plans={action === "plan" ? await recentPlans(context) : []}
    />,
    status,
  );
}

/** The plans of recent changes, to choose from. None if the audit log does not respond: the list only helps. */
async function recentPlans(context: AppContext): Promise<readonly string[]> {
  const filter = { act: "account.plan", limit: PLAN_CHANGES_READ };
  const entries = await context
    .get("services")
    .audit.list(filter)
    .catch(() => []);
  const plans = entries.flatMap(({ changed }) => [changed?.["plan"]?.from, changed?.["plan"]?.to]);
  return [...new Set(plans.filter((plan) => typeof plan === "string"))].toSorted();
}

export function subjectOf(
  context: AppContext,
  { account: { plan, credits }, reserved }: InspectedAccount,
): ActionSubject {
  const { identity_id, email, name } = context.get("holder");
  return { identity_id, name: email ?? name ?? identity_id, plan, credits, reserved };
}
