/** `GET /signin/callback/{id}`: finishes a sign-in with a provider's response. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { SignInFailure, SignInFinished } from "../../identity/port.ts";
import { SignInPage } from "./signin_page.tsx";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { readRedirectTo } from "../../http/redirect_to.ts";
import { choicesFor } from "./choices.ts";
import { setCookies } from "../../http/caller/session_cookies.ts";
import { respondSignedIn } from "./signed_in.ts";

export const finishSignIn = factory.createHandlers(async (context) => {
  const { identity } = context.get("services");
  const method_id = context.req.param("id") ?? "";
  const finished = await identity.finishSignIn(context.req.raw, method_id, context.get("base_url"));
  switch (finished.kind) {
    case "signed_in":
      return respondSignedIn(
        context,
        finished,
        await targetIfStillAllowed(context, finished.redirect_to),
      );
    case "linked":
      setCookies(context, finished.set_cookies);
      return context.redirect("/account?notice=linked", 303);
    case "failed":
      return showFailure(context, method_id, finished);
    case "unknown_method":
      return refuseWithPage(context, { code: "not_found" });
  }
});

/** The address to return to; null if it was removed from the allowlist while the person was at the provider. */
async function targetIfStillAllowed(
  context: AppContext,
  redirect_to: string | null,
): Promise<URL | null> {
  const redirect = await readRedirectTo(context, redirect_to ?? undefined);
  return redirect.ok ? redirect.value : null;
}

async function showFailure(
  context: AppContext,
  method_id: string,
  finished: Extract<SignInFinished, { kind: "failed" }>,
): Promise<Response> {
  const { failure, linking, redirect_to, set_cookies } = finished;
  setCookies(context, set_cookies);
  const { sign_in_methods } = context.get("services").identity;
  const provider = sign_in_methods.find(({ id }) => id === method_id)?.name ?? method_id;
  const choices = await choicesFor(context, await targetIfStillAllowed(context, redirect_to));
  const state = linking
    ? ({ kind: "link_failed", failure, provider } as const)
    : ({ kind: "failed", failure, provider, choices } as const);
  return context.html(<SignInPage state={state} />, statusOf(failure));
}

function statusOf(failure: SignInFailure): ContentfulStatusCode {
  switch (failure) {
    case "provider_unreachable":
    case "provider_failed":
      return 502;
    case "linked_elsewhere":
    case "linked_another":
      return 409;
    case "issuer_changed":
      return 500;
    case "cancelled":
    case "expired":
    case "mismatch":
    case "link_session_ended":
      return 400;
  }
}
