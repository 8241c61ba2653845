/** The page that asks before an app is stopped. */
import { STOP_FACTS } from "../../domain/app_stop.ts";
import type { ListedApp } from "../../http/allowances/access_list.ts";
import { Choice } from "../allowance/fields.tsx";
import { ConfirmPage } from "../layout/confirm_page.tsx";
import { counted } from "../layout/labels.ts";

export function StopPage({ app, name }: { readonly app: ListedApp; readonly name: string }) {
  const { slug, started_jobs } = app;
  return (
    <ConfirmPage
      title={`Stop ${name}?`}
      section="access"
      path="/account/access/stop"
      fields={[["app", slug]]}
      button={`Stop ${name}`}
      cancel_path="/account/access"
    >
      <p>
        {STOP_FACTS.nothing_starts} {STOP_FACTS.nothing_read} {STOP_FACTS.no_tokens}
      </p>
      <p>{STOP_FACTS.connections_end}</p>
      <p class="hint">{STOP_FACTS.profile_stays}</p>
      {started_jobs === 0 ? null : <StartedJobs started_jobs={started_jobs} />}
    </ConfirmPage>
  );
}

function StartedJobs({ started_jobs }: Pick<ListedApp, "started_jobs">) {
  return (
    <fieldset>
      <legend>{counted(started_jobs, "job is started", "jobs are started")}</legend>
      <Choice type="radio" name="started_jobs" value="keep" checked>
        {STOP_FACTS.jobs_finish}
      </Choice>
      <Choice type="radio" name="started_jobs" value="expire">
        {STOP_FACTS.jobs_expire}
      </Choice>
    </fieldset>
  );
}
