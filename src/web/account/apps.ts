/** `POST /account/app-access` (form: `app`, `access`), and the names of apps. */
import * as z from "zod/mini";
import { appLooks } from "../layout/app_icon.tsx";
import { callerOf, factory, type AppContext } from "../../http/context.ts";
import { refuseByAccept } from "../../http/refusal_page.ts";
import { appSlug, validForm } from "../../http/validation.ts";

/** Returns a function from a slug to the app's name: see `appLooks`. */
export async function appNames(context: AppContext): Promise<(slug: string | null) => string> {
  const lookOf = await appLooks(context);
  return (slug) => lookOf(slug).name;
}

export const appAccessForm = z.object({
  app: appSlug,
  access: z.enum(["open", "disconnected"], "must be open or disconnected"),
});

/** Disconnects an app from the account, or connects it again. */
export const changeAppAccess = factory.createHandlers(validForm(appAccessForm), async (context) => {
  const { app, access } = context.req.valid("form");
  const { accounts } = context.get("services");
  const account = accounts(context.get("session").identity_id);
  const changed = await account.setAppAccess(callerOf(context), app, access);
  if (!changed.ok) return refuseByAccept(context, changed.refusal);
  const notice = access === "open" ? "app_connected" : "app_disconnected";
  return context.redirect(`/account?notice=${notice}#apps`, 303);
});
