/** `/signin/passkey/recovery[?redirect_to=]`: signs in with a recovery code and shows the one that replaces it. */
import * as z from "zod/mini";
import { factory, type AppContext } from "../../http/context.ts";
import { takeLanguage } from "../../http/caller/page_language.ts";
import { setSessionCookies } from "../../http/caller/session_cookies.ts";
import { readRedirectTo } from "../../http/redirect_to.ts";
import { refuseByAccept, refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";
import { returnToRequest } from "../authorize/new_sign_in.ts";
import { passkeysOf } from "./passkey.tsx";
import { RecoveryCodePage, RecoveryPage } from "./passkey_pages.tsx";
import { refuseEntry } from "./signed_in.ts";

export const showRecovery = factory.createHandlers(async (context) => {
  const target = await readRedirectTo(context, context.req.query("redirect_to"));
  if (!target.ok) return refuseWithPage(context, target.refusal);
  const redirect_to = target.value?.href ?? null;
  return context.html(<RecoveryPage redirect_to={redirect_to} is_refused={false} />);
});

const form = z.object({ code: z.string("must be a string") });

/** A suspended person keeps their code: the account is checked before the code is used. */
export const recover = factory.createHandlers(validForm(form), async (context) => {
  const target = await readRedirectTo(context, context.req.query("redirect_to"));
  if (!target.ok) return refuseByAccept(context, target.refusal);
  const { code } = context.req.valid("form");
  const passkeys = passkeysOf(context);
  const identity_id = await passkeys.findByRecoveryCode(code);
  if (identity_id === null) return refuseCode(context, target.value);
  const refused = await refuseEntry(context, identity_id, target.value);
  if (refused !== null) return refused;
  const recovered = await passkeys.recover(code, context.req.raw, context.get("base_url"));
  if (recovered === null) return refuseCode(context, target.value);
  const { session, set_cookies, recovery_code } = recovered;
  await setSessionCookies(context, session, set_cookies);
  await takeLanguage(context, session);
  const redirect_to = (await returnToRequest(context, session, target.value))?.href ?? null;
  return context.html(<RecoveryCodePage {...{ recovery_code, redirect_to }} after="recovery" />);
});

function refuseCode(context: AppContext, target: URL | null): Response | Promise<Response> {
  const redirect_to = target?.href ?? null;
  return context.html(<RecoveryPage redirect_to={redirect_to} is_refused />, 403);
}
