/** `/console/plans` and its forms: the plans whose accounts get credits again and again. */
import { readRule, ruleText, type PlanRule } from "../../domain/plans.ts";
import { accepted, refused } from "../../domain/result.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import {
  deletePlan,
  listPlans,
  planIdProblem,
  savePlan,
  savePlanBody,
  type PlanRecord,
  type SavePlan,
} from "../../operator/save_plan.ts";
import { number } from "../layout/labels.ts";
import { confirmed, ConfirmationPage } from "./confirmation.tsx";
import { ConsolePage } from "./console_page.tsx";
import { ActionForm, emptyForm, FormPage, type FormState } from "./form.tsx";
import { readForm, textOf, type FailedForm } from "./forms.ts";
import { ForRole, mayAct } from "./permission.tsx";
import { RowLink } from "./panel.tsx";
import {
  formOf,
  isNew,
  list,
  RecordFields,
  submitRecord,
  text,
  type RecordForm,
} from "./record_form.tsx";
import { consolePath, Table } from "./table.tsx";

const PATH = "/console/plans";

const rules = list(
  {
    name: "recurring",
    label: "Credits",
    called: "The credits",
    rows: 4,
    hint: "One rule per line, at most 4: credits/period, such as 1000/month. The period is day, week or month. 1000/month:200 keeps at most 200 unused credits for one more period. 50/day:0:paint+draw is for these apps only.",
  },
  (entry) => readRule(entry) ?? entry,
);

const PLAN_FORM: RecordForm<SavePlan, PlanRecord> = {
  id: {
    name: "id",
    label: "Id",
    called: "The id",
    hint: "Such as studio. You cannot change it later.",
    taken: "This id is taken. Change the other plan on its own page, or choose another id.",
    problemOf: (id) => planIdProblem(id)?.message ?? null,
  },
  fields: [
    text({ name: "name", label: "Name", called: "The name", hint: "People see it." }),
    {
      ...rules,
      values: (record) => ({
        recurring: (record as PlanRecord).recurring.map(ruleText).join("\n"),
      }),
    },
  ],
  schema: savePlanBody,
  refusals: { limit_reached: "id" },
  find: ({ plan_records }, { id }) => plan_records.find(id),
  save: (acting, { id }, body) => savePlan(acting, id, body),
};

/** The plan that a form names. A plan is of no app. */
const keyOf = (form: FormState) => ({ app_slug: "", id: textOf(form, "id") });

export const showPlans = factory.createHandlers(async (context) => {
  const plans = await listPlans(context.get("services"));
  const may_change = mayAct("admin");
  return context.html(
    <ConsolePage
      title="Plans"
      section="plans"
      aside={
        <ForRole role="admin" action="Creating a plan">
          <a class="button small" href={`${PATH}/plan`}>
            Create a plan
          </a>
        </ForRole>
      }
    >
      <section class="panel" aria-label="Plans">
        <p class="hint">
          A plan brings its accounts credits every day, week or month. You give an account its plan
          on the account’s page. After a change, an account has the new rules from its next period
          on.
        </p>
        <Table
          label="Plans"
          columns={["Plan", "Credits", { amount: "Accounts" }, { amount: "Behind" }, "Changes"]}
          rows={plans.map(({ id, name, recurring, accounts, behind }) => [
            <>
              {may_change ? <a href={consolePath(`${PATH}/plan`, { id })}>{name}</a> : name}
              <span class="hint below">
                <code>{id}</code>
              </span>
            </>,
            <Rules rules={recurring} />,
            number(accounts),
            number(behind),
            may_change ? (
              <RowLink href={consolePath(`${PATH}/delete`, { id })} text="Delete" about={name} />
            ) : (
              "–"
            ),
          ])}
          empty="There is no plan yet. A new account has the plan “free”, which brings no credits."
        />
      </section>
    </ConsolePage>,
  );
});

function Rules({ rules: shown }: { rules: readonly PlanRule[] }) {
  if (shown.length === 0) return <>No credits</>;
  return (
    <>
      {shown.map(({ credits, every, rollover_max, app_slugs }) => (
        <span class="below">
          {number(credits)} every {every}
          {rollover_max === 0 ? "" : `, keeps ${number(rollover_max)}`}
          {app_slugs === null ? "" : `, only ${app_slugs.join(", ")}`}
        </span>
      ))}
    </>
  );
}

const back = (context: AppContext, notice: string): Response =>
  context.redirect(consolePath(PATH, { notice }), 303);

function showForm(context: AppContext, { form, status }: FailedForm): Response | Promise<Response> {
  const is_new = isNew(form);
  return context.html(
    <FormPage
      title={is_new ? "Create a plan" : `Change the plan “${textOf(form, "id")}”`}
      section="plans"
      about={{ href: PATH, name: "Plans" }}
      form={form}
    >
      <ActionForm
        action={`${PATH}/plan`}
        form={form}
        button={is_new ? "Create" : "Save"}
        back={PATH}
      >
        <RecordFields kind={PLAN_FORM} form={form} />
      </ActionForm>
    </FormPage>,
    status,
  );
}

export const showPlanForm = factory.createHandlers(async (context) => {
  const id = context.req.query("id") ?? "";
  if (id === "") return showForm(context, { form: emptyForm({}), status: 200 });
  const plan = await context.get("services").plan_records.find(id);
  if (plan === null) return refuseWithPage(context, { code: "plan_not_found" });
  return showForm(context, { form: formOf(PLAN_FORM, plan, { id }), status: 200 });
});

export const savePlanForm = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const saved = await submitRecord(context, PLAN_FORM, keyOf(form), form);
  return saved.ok ? back(context, "plan-saved") : showForm(context, saved.refusal);
});

export const plan_deletion = confirmed({
  named_by: "id",
  async read(context, form) {
    const plan = await context.get("services").plan_records.find(textOf(form, "id"));
    return plan === null ? refused({ code: "plan_not_found" } as const) : accepted(plan);
  },
  page: ({ name }, form) => (
    <ConfirmationPage
      title={`Delete the plan “${name}”?`}
      section="plans"
      about={{ href: PATH, name: "Plans" }}
      action={`${PATH}/delete`}
      button="Delete"
      back={PATH}
      named_by="id"
      form={form}
    >
      <p>A plan that accounts have cannot be deleted. This cannot be undone.</p>
    </ConfirmationPage>
  ),
  perform: (acting, _context, form, request) => deletePlan(acting, textOf(form, "id"), request),
  done: (context) => back(context, "plan-deleted"),
});
