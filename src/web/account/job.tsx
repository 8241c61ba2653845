/** `GET /account/jobs/{id}`: one job; `POST /account/jobs/cancel` (form: `job_id`). */
import * as z from "zod/mini";
import { jobId } from "../../fields.ts";
import { accountOf, callerOf, factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";
import { noticeText } from "../layout/messages.ts";
import { appLooks } from "../layout/app_icon.tsx";
import { JobPage } from "./job_page.tsx";
import { jobPath } from "./job_rows.tsx";

export const showJob = factory.createHandlers(async (context) => {
  const id = jobId.safeParse(context.req.param("id"));
  if (!id.success) return refuseWithPage(context, { code: "job_not_found" });
  const account = context.get("services").accounts(context.get("session").identity_id);
  const [read, appLook] = await Promise.all([
    account.readJobHistory(callerOf(context), id.data),
    appLooks(context),
  ]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const notice = noticeText(context.req.query("notice"));
  return context.html(<JobPage {...read.value} {...{ appLook, notice }} />);
});

/** Expires a started job. A job that has already ended is not an error: its page shows how it ended. */
export const cancelJobFromPage = factory.createHandlers(
  validForm(z.object({ job_id: jobId })),
  async (context) => {
    const { job_id } = context.req.valid("form");
    const cancelled = await accountOf(context).cancelJob(callerOf(context), { job_id });
    if (!cancelled.ok && cancelled.refusal.code !== "job_ended") {
      return refuseWithPage(context, cancelled.refusal);
    }
    const notice = cancelled.ok ? "job_cancelled" : "job_ended";
    return context.redirect(`${jobPath(job_id)}?notice=${notice}`, 303);
  },
);
