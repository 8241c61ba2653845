/** The page that asks before an app is stopped. */
import { STOP_FACTS } from "../../domain/app_stop.ts";
import type { ListedApp } from "../../http/allowances/access_list.ts";
import { Choice } from "../allowance/fields.tsx";
import { t } from "../language/text.tsx";
import { ConfirmPage } from "../layout/confirm_page.tsx";
import { counted } from "../layout/labels.ts";

export function StopPage({ app, name }: { readonly app: ListedApp; readonly name: string }) {
  const { slug, started_jobs } = app;
  return (
    <ConfirmPage
      title={t("Stop {name}?", { name })}
      section="access"
      path="/account/access/stop"
      fields={[["app", slug]]}
      button={t("Stop {name}", { name })}
      cancel_path="/account/access"
    >
      <p>
        {t(STOP_FACTS.nothing_starts)} {t(STOP_FACTS.nothing_read)} {t(STOP_FACTS.no_tokens)}
      </p>
      <p>{t(STOP_FACTS.connections_end)}</p>
      <p class="hint">{t(STOP_FACTS.profile_stays)}</p>
      {started_jobs === 0 ? null : <StartedJobs started_jobs={started_jobs} />}
    </ConfirmPage>
  );
}

function StartedJobs({ started_jobs }: Pick<ListedApp, "started_jobs">) {
  return (
    <fieldset>
      <legend>{counted(started_jobs, "job is started", "jobs are started")}</legend>
      <Choice type="radio" name="started_jobs" value="keep" checked>
        {t(STOP_FACTS.jobs_finish)}
      </Choice>
      <Choice type="radio" name="started_jobs" value="expire">
        {t(STOP_FACTS.jobs_expire)}
      </Choice>
    </fieldset>
  );
}
