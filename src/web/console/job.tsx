/** `GET /console/accounts/{identity_id}/jobs/{job_id}`: one job; `POST …/refund`: gives back its cost. */
import { OPERATOR } from "../../account/contract.ts";
import { refundBody, refundJob } from "../../http/api/admin/accounts/actions.ts";
import { holderAccount, jobIdOf } from "../../http/api/admin/accounts/holder.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { appNames } from "../account/apps.ts";
import { statementEntries } from "../account/statement_entries.ts";
import { FIELD_LABELS } from "./account_actions.tsx";
import { emptyForm } from "./form.tsx";
import {
  check,
  invalid,
  readForm,
  submit,
  textOf,
  wholeNumberOf,
  type FailedForm,
} from "./forms.ts";
import { ConsoleJobPage } from "./job_page.tsx";
import { consoleNoticeText } from "./labels.ts";
import { consolePath, jobPath } from "./table.tsx";

export const showConsoleJob = factory.createHandlers((context) =>
  showJob(context, { form: emptyForm(), status: 200 }),
);

export const doRefund = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const reason = textOf(form, "reason");
  const amount = textOf(form, "amount") === "" ? {} : { amount: wholeNumberOf(form, "amount") };
  const checked = check(refundBody, { reason, ...amount }, FIELD_LABELS);
  if (!checked.ok) return showJob(context, invalid(form, checked.refusal));
  const request = { ...checked.value, key: form.key };
  const failed = await submit(context, form, () => refundJob(context, jobIdOf(context), request), {
    refund_limit: "amount",
  });
  if (failed !== null) return showJob(context, failed);
  const path = jobPath(context.get("holder").identity_id, jobIdOf(context));
  return context.redirect(consolePath(path, { notice: "refunded" }), 303);
});

async function showJob(context: AppContext, { form, status }: FailedForm): Promise<Response> {
  const person = context.get("holder");
  const [read, appName] = await Promise.all([
    holderAccount(context).readJobHistory(OPERATOR, jobIdOf(context)),
    appNames(context),
  ]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const { job, entries } = read.value;
  const page = {
    person,
    job,
    entries: statementEntries({ rows: entries, jobs: [job] }, appName),
    app_name: appName(job.app_slug),
    form,
    notice: consoleNoticeText(context.req.query("notice")),
  };
  return context.html(<ConsoleJobPage {...page} />, status);
}
