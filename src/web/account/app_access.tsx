/** `GET` and `POST /account/access/stop` (`app`) stop an app; `POST /account/access/allow` allows it again. */
import * as z from "zod/mini";
import { readAccessList } from "../../http/allowances/access_list.ts";
import { stopAppOf } from "../../http/allowances/stop_app.ts";
import { STARTED_JOBS } from "../../domain/app_stop.ts";
import { callerOf, accountOf, factory } from "../../http/context.ts";
import { refuseByAccept, refuseWithPage } from "../../http/refusal_page.ts";
import { appSlug, validForm } from "../../http/validation.ts";
import { appLooks } from "../layout/app_icon.tsx";
import { StopPage } from "./app_access_page.tsx";

const LIST = "/account/access";

/** Asks before an app is stopped. One that is not open is stopped already. */
export const confirmStop = factory.createHandlers(async (context) => {
  const [read, appLook] = await Promise.all([readAccessList(context), appLooks(context)]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const slug = context.req.query("app") ?? "";
  const app = read.value.apps.find((one) => one.slug === slug && one.state === "open");
  if (app === undefined) return context.redirect(LIST, 303);
  return context.html(<StopPage app={app} name={appLook(app.slug).name} />);
});

const form = z.object({ app: appSlug });

const stopForm = z.object({
  app: appSlug,
  started_jobs: z._default(z.enum(STARTED_JOBS, "must be keep or expire"), "keep"),
});

export const stopApp = factory.createHandlers(validForm(stopForm), async (context) => {
  const { app, started_jobs } = context.req.valid("form");
  const changed = await stopAppOf(context, { slug: app, started_jobs });
  if (!changed.ok) return refuseByAccept(context, changed.refusal);
  return context.redirect(`${LIST}?notice=app_stopped`, 303);
});

export const allowApp = factory.createHandlers(validForm(form), async (context) => {
  const { app } = context.req.valid("form");
  const changed = await accountOf(context).allowApp(callerOf(context), app);
  if (!changed.ok) return refuseByAccept(context, changed.refusal);
  return context.redirect(`${LIST}?notice=app_allowed`, 303);
});
