/** `GET /account/jobs[?app=&status=&by=&before=]` lists the person's jobs. */
import * as z from "zod/mini";
import { JOB_STATUSES } from "../../domain/job.ts";
import { APP_SLUG_PATTERN } from "../../domain/app_policy.ts";
import { starterId } from "../../fields.ts";
import { JobsPage } from "./jobs_page.tsx";
import { callerOf, factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validOr } from "../../http/validation.ts";
import { appLooks } from "../layout/app_icon.tsx";

/** Jobs on one page. */
const JOBS_PAGE_ROWS = 24;

/** An invalid filter is ignored: for a person, an unfiltered list is more useful than an error. */
const query = z.object({
  app: validOr(null, z.string().check(z.regex(APP_SLUG_PATTERN))),
  status: validOr(null, z.enum(JOB_STATUSES)),
  by: validOr(null, starterId),
  before: validOr(null, z.uuid().check(z.toLowerCase())),
});

export const showJobs = factory.createHandlers(async (context) => {
  const { app, status, by, before } = query.parse({ ...context.req.query() });
  const account = context.get("services").accounts(context.get("session").identity_id);
  const caller = callerOf(context);
  const [listed, wallet, appLook] = await Promise.all([
    account.listJobs(caller, {
      app_slug: app ?? undefined,
      status: status ?? undefined,
      by: by ?? undefined,
      before_id: before ?? undefined,
      limit: JOBS_PAGE_ROWS,
    }),
    account.wallet(caller, { app: null }),
    appLooks(context),
  ]);
  if (!listed.ok) return refuseWithPage(context, listed.refusal);
  if (!wallet.ok) return refuseWithPage(context, wallet.refusal);
  const { rows, next: before_next } = listed.value;
  const next = new URLSearchParams();
  if (app !== null) next.set("app", app);
  if (status !== null) next.set("status", status);
  if (by !== null) next.set("by", by);
  if (before_next !== null) next.set("before", before_next);
  return context.html(
    <JobsPage
      jobs={rows}
      appLook={appLook}
      line={wallet.value.line}
      apps={wallet.value.apps.map(({ slug }) => [slug, appLook(slug).name])}
      app={app}
      status={status}
      by={by}
      is_first_page={before === null}
      next={before_next === null ? null : `/account/jobs?${next.toString()}`}
    />,
  );
});
