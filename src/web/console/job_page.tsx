/** One job of an account: its cost and cause, its ledger entries, and the form that refunds it. */
import { idsOfPath } from "../../domain/allowance.ts";
import type { Child } from "hono/jsx";
import type { JobRow } from "../../account/contract.ts";
import type { Person } from "../../identity/port.ts";
import { EntryTable } from "../account/entry_table.tsx";
import type { StatementEntry } from "../account/statement_entries.ts";
import { credits, JOB_STATUS_NAMES, number } from "../layout/labels.ts";
import { NoticeLine, Page } from "../layout/layout.tsx";
import { Time, Zone } from "../layout/time.tsx";
import { ActionForm, Field, Reason, titleOf, type FormState } from "./form.tsx";
import { Panel } from "./panel.tsx";
import { accountPath, consolePath, jobPath } from "./table.tsx";

export interface ConsoleJobPageProps {
  readonly person: Person;
  readonly job: JobRow;
  readonly entries: readonly StatementEntry[];
  readonly app_name: string;
  readonly form: FormState;
  readonly notice: string | null;
}

export function ConsoleJobPage(props: ConsoleJobPageProps) {
  const { person, job, entries, form, notice } = props;
  return (
    <Page title={titleOf(job.action, form)} section="all_jobs" scripts={["times.js", "forms.js"]}>
      <NoticeLine notice={notice} />
      <div class="page-head">
        <h1>{job.action}</h1>
        <a href={consolePath("/console/jobs", { identity_id: person.identity_id })}>
          All jobs of this account
        </a>
      </div>
      <div class="columns">
        <div class="main-column">
          <Panel id="entries" title="Ledger entries">
            <EntryTable entries={entries} />
          </Panel>
          <Metadata job={job} />
        </div>
        <div class="side-column">
          <Facts {...props} />
          <Refund {...props} />
          <Zone />
        </div>
      </div>
    </Page>
  );
}

const FAILURES = { reported: "its app reported it", expired: "it timed out" } as const;

function Facts({ person, job, app_name }: ConsoleJobPageProps) {
  const { status, failure, failure_reason } = job;
  const cause = [failure === null ? null : FAILURES[failure], failure_reason].filter(Boolean);
  const facts: readonly (readonly [string, Child])[] = [
    ["Account", <a href={accountPath(person.identity_id)}>{person.email ?? person.identity_id}</a>],
    ["App", app_name],
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
    [
      "Token",
      job.allowance_path === null ? "None" : <code>{idsOfPath(job.allowance_path)[0]}</code>,
    ],
  ];
  return (
    <Panel id="facts" title="Job">
      <dl class="details">
        {facts.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Refund({ person, job, form }: ConsoleJobPageProps) {
  const left = job.actual_cost - job.refunded;
  if (left === 0 && Object.keys(form.problems).length === 0) return null;
  return (
    <Panel id="refund" title="Refund this job">
      <p class="hint">
        The account gets back at most {credits(left)}, in one or several refunds. A refunded job
        cannot be completed late.
      </p>
      <ActionForm
        action={`${jobPath(person.identity_id, job.id)}/refund`}
        form={form}
        button="Refund this job"
        role="support"
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
    </Panel>
  );
}

/** As the app stored it. */
function Metadata({ job: { metadata_json } }: Pick<ConsoleJobPageProps, "job">) {
  if (metadata_json === null) return null;
  return (
    <Panel id="metadata" title="What the app stored">
      <div class="scroll" tabindex={0} role="region" aria-label="Metadata of the app">
        <pre>{JSON.stringify(JSON.parse(metadata_json), null, 2)}</pre>
      </div>
    </Panel>
  );
}
