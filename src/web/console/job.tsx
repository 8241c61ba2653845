/** `GET /console/accounts/{identity_id}/jobs/{job_id}`: one job; `POST …/refund`: gives back its cost, after a review. */
import type { Child } from "hono/jsx";
import { OPERATOR, type JobRow } from "../../account/contract.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { RETURNED_MS } from "../../domain/lots.ts";
import { startedBy } from "../../domain/started_by.ts";
import { partsOf } from "../../domain/wire.ts";
import { holderAccount, holderId, jobIdOf } from "../../http/caller/holder.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import type { Person } from "../../identity/port.ts";
import { refundBody, refundJob } from "../../operator/account_actions.ts";
import { appNames } from "../account/apps.ts";
import { EntryTable } from "../account/entry_table.tsx";
import { titleOf as jobTitle } from "../account/job_metadata.ts";
import { starterText } from "../account/started_by.tsx";
import { statementEntries } from "../account/statement_entries.ts";
import { credits, JOB_STATUS_NAMES, number, signed } from "../layout/labels.ts";
import { ConsolePage } from "./console_page.tsx";
import { Time, Zone } from "../layout/time.tsx";
import { FIELD_LABELS, pagePropsOf, subjectOf, type ActionSubject } from "./account_actions.tsx";
import {
  emptyForm,
  ActionForm,
  Field,
  FormPage,
  Reason,
  titleOf,
  type FormState,
} from "./form.tsx";
import {
  check,
  invalid,
  readForm,
  submit,
  textOf,
  wholeNumberOf,
  type FailedForm,
} from "./forms.ts";
import { Details, Panel } from "./panel.tsx";
import { ForRole } from "./permission.tsx";
import { consolePath, jobPath, accountPath } from "./table.tsx";

export const showConsoleJob = factory.createHandlers((context) =>
  showJob(context, { form: emptyForm(), status: 200 }),
);

export const doRefund = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const reason = textOf(form, "reason");
  const amount = textOf(form, "amount") === "" ? {} : { amount: wholeNumberOf(form, "amount") };
  const checked = check(refundBody, { reason, ...amount }, FIELD_LABELS);
  if (!checked.ok) return showJob(context, invalid(form, checked.refusal));
  if (form.values["confirmed"] !== "yes") return reviewRefund(context, form, checked.value.amount);
  const request = { ...checked.value, key: form.key };
  const done = await submit(
    context,
    form,
    (acting) => refundJob(acting, holderId(context), jobIdOf(context), request),
    { refund_limit: "amount" },
  );
  if (!done.ok) return showJob(context, done.refusal);
  const path = jobPath(holderId(context), jobIdOf(context));
  return context.redirect(consolePath(path, { notice: "refunded" }), 303);
});

/** Shows what would be given back. The amount is fixed here, whatever the job's cost becomes. */
async function reviewRefund(
  context: AppContext,
  form: FormState,
  asked: number | undefined,
): Promise<Response> {
  const [read, inspected] = await Promise.all([
    holderAccount(context).readJob(OPERATOR, jobIdOf(context)),
    holderAccount(context).inspect(),
  ]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  if (!inspected.ok) return refuseWithPage(context, inspected.refusal);
  const job = read.value;
  const left = job.actual_cost - job.refunded;
  const amount = asked ?? left;
  if (amount > left || amount === 0) {
    const problem = `At most ${credits(left)} of this job can be given back.`;
    return showJob(context, invalid(form, { amount: problem }));
  }
  const subject = subjectOf(context, inspected.value);
  return context.html(<ReviewRefundPage {...{ subject, job, form, amount }} />);
}

interface ReviewRefundProps {
  readonly subject: ActionSubject;
  readonly job: JobRow;
  readonly form: FormState;
  readonly amount: number;
}

function ReviewRefundPage({ subject, job, form, amount }: ReviewRefundProps) {
  const back = jobPath(subject.identity_id, job.id);
  const cost = job.actual_cost - job.refunded;
  const hidden = {
    amount: String(amount),
    reason: form.values["reason"] ?? "",
    confirmed: "yes",
  };
  return (
    <FormPage title={`Give back ${credits(amount)}?`} form={form} {...pagePropsOf(subject)}>
      <p>
        The job <a href={back}>{job.action}</a> then cost {credits(cost - amount)} instead of{" "}
        {number(cost)}.
      </p>
      <dl class="sums">
        <div>
          <dt>Balance now</dt>
          <dd>{number(subject.credits)}</dd>
        </div>
        <div>
          <dt>Given back</dt>
          <dd>{signed(amount)}</dd>
        </div>
        <div>
          <dt>After</dt>
          <dd>{number(subject.credits + amount)}</dd>
        </div>
      </dl>
      {partsOf(job).every(({ lot_id }) => lot_id === null) ? null : (
        <p class="problem">
          The job used credits that have an end. If their end has passed, they can be used for{" "}
          {RETURNED_MS / DAY_MS} days. If a job gave them back after their end before, and those
          days are over, they expire at once, and the balance stays lower.
        </p>
      )}
      <p>
        The account’s holder will see this reason: <q>{hidden.reason}</q>
      </p>
      <ActionForm
        action={`${back}/refund`}
        form={form}
        button={`Give back ${credits(amount)}`}
        back={back}
      >
        {Object.entries(hidden).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
      </ActionForm>
    </FormPage>
  );
}

async function showJob(context: AppContext, { form, status }: FailedForm): Promise<Response> {
  const person = context.get("holder");
  const [read, appName] = await Promise.all([
    holderAccount(context).readJobHistory(OPERATOR, jobIdOf(context)),
    appNames(context),
  ]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const { job, entries } = read.value;
  return context.html(
    <ConsolePage
      title={titleOf(jobTitle(job), form)}
      heading={jobTitle(job)}
      section="all_jobs"
      scripts={["times.js", "forms.js"]}
      aside={
        <a href={consolePath("/console/jobs", { identity_id: person.identity_id })}>
          All jobs of this account
        </a>
      }
    >
      <div class="columns">
        <div class="main-column">
          <Panel id="entries" title="Ledger entries">
            <EntryTable entries={statementEntries({ rows: entries, jobs: [job] }, appName)} />
          </Panel>
          <Metadata {...job} />
        </div>
        <div class="side-column">
          <Facts {...{ person, job }} app_name={appName(job.app_slug)} />
          <Refund {...{ person, job, form }} />
          <Zone />
        </div>
      </div>
    </ConsolePage>,
    status,
  );
}

interface JobProps {
  readonly person: Person;
  readonly job: JobRow;
}

const FAILURES = {
  reported: "its app reported it",
  expired: "it timed out",
  cancelled: "its holder cancelled it",
} as const;

function Facts({ person, job, app_name }: JobProps & { readonly app_name: string }) {
  const { status, failure, failure_reason } = job;
  const cause = [failure === null ? null : FAILURES[failure], failure_reason].filter(Boolean);
  const facts: readonly (readonly [string, Child])[] = [
    ["Account", <a href={accountPath(person.identity_id)}>{person.email ?? person.identity_id}</a>],
    ["App", app_name],
    ["Action", job.action],
    ["Started by", <Starter job={job} />],
    ["Status", <span class={`state state-${status}`}>{JOB_STATUS_NAMES[status]}</span>],
    ...(cause.length === 0 ? [] : [["Cause", cause.join(": ")] as const]),
    ["Reserve", credits(job.reserved)],
    ...(job.spent === null ? [] : [["Spent at its last step", credits(job.spent)] as const]),
    ...(job.step === 0 ? [] : [["Last step", number(job.step)] as const]),
    ["Cost", status === "started" ? "Not known yet" : credits(job.actual_cost)],
    ...(job.refunded === 0 ? [] : [["Refunded", credits(job.refunded)] as const]),
    ["Started", <Time at_ms={job.created_at_ms} />],
    ["Last change", <Time at_ms={job.updated_at_ms} />],
    ["Job id", <code>{job.id}</code>],
  ];
  return (
    <Panel id="facts" title="Job">
      <Details facts={facts} />
    </Panel>
  );
}

function Starter({ job }: Pick<JobProps, "job">) {
  const { id, root_id } = { root_id: null, ...startedBy(job) };
  return (
    <>
      {starterText(job) ?? "Its holder, in a browser"}
      {id === null ? null : <code class="below">{id}</code>}
      {root_id === null ? null : <code class="below">exchanged from {root_id}</code>}
    </>
  );
}

function Refund({ person, job, form }: JobProps & { readonly form: FormState }) {
  const left = job.actual_cost - job.refunded;
  if (left === 0 && Object.keys(form.problems).length === 0) return null;
  return (
    <Panel id="refund" title="Refund this job">
      <p class="hint">
        The account gets back at most {credits(left)}, in one or several refunds. A refunded job
        cannot be completed late. The next page shows the new balance before anything is changed.
      </p>
      <ForRole role="support" action="Refunding a job">
        <ActionForm
          action={`${jobPath(person.identity_id, job.id)}/refund`}
          form={form}
          button="Review the refund"
        >
          <Field
            form={form}
            name="amount"
            label="Credits"
            inputmode="numeric"
            hint={`Leave it empty to refund all ${number(left)}.`}
          />
          <Reason form={form} hint="The account’s holder sees this in their statement." />
        </ActionForm>
      </ForRole>
    </Panel>
  );
}

/** As the app stored it. */
function Metadata({ metadata_json }: Pick<JobRow, "metadata_json">) {
  if (metadata_json === null) return null;
  return (
    <Panel id="metadata" title="What the app stored">
      <div class="scroll" tabindex={0} role="region" aria-label="Metadata of the app">
        <pre>{JSON.stringify(JSON.parse(metadata_json), null, 2)}</pre>
      </div>
    </Panel>
  );
}
