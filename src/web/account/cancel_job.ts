/** `POST /account/jobs/cancel` (form: `job_id`): expires a started job of the signed-in person. */
import { accountOf, callerOf, factory } from "../../http/context.ts";
import { cancelJobBody } from "../../http/api/jobs/cancel.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";

/** A job that has ended meanwhile is what was wanted, or what the page then shows. */
export const cancelJobFromPage = factory.createHandlers(
  validForm(cancelJobBody),
  async (context) => {
    const answer = await accountOf(context).cancelJob(callerOf(context), context.req.valid("form"));
    if (!answer.ok && answer.refusal.code !== "job_not_started") {
      return refuseWithPage(context, answer.refusal);
    }
    return context.redirect("/account/jobs", 303);
  },
);
