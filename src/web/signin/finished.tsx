/** The response to a finished sign-in, at a provider or with a passkey: a redirect, or the reason why it failed. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { SignInFailure, SignInFinished } from "../../identity/port.ts";
import { SignInPage } from "./signin_page.tsx";
import type { AppContext } from "../../http/context.ts";
import { targetIfStillAllowed } from "../../http/redirect_to.ts";
import { choicesFor } from "./choices.ts";
import type { Message } from "../language/text.tsx";
import { setCookies } from "../../http/caller/session_cookies.ts";
import { returnToRequest } from "../authorize/new_sign_in.ts";
import { takeLanguage } from "../../http/caller/page_language.ts";
import { respondSignedIn } from "./signed_in.ts";

/** `method_name`: the method in a sentence: the text of its button, or "Your passkey". */
export async function respondFinished(
  context: AppContext,
  finished: Exclude<SignInFinished, { kind: "unknown_method" }>,
  method_name: string | Message,
): Promise<Response> {
  switch (finished.kind) {
    case "signed_in": {
      const target = await targetIfStillAllowed(context, finished.redirect_to);
      const proven = await returnToRequest(context, finished.session, target);
      await takeLanguage(context, finished.session);
      return respondSignedIn(context, finished, proven);
    }
    case "linked":
      setCookies(context, finished.set_cookies);
      return context.redirect("/account/security?notice=linked", 303);
    case "failed":
      return showFailure(context, method_name, finished);
  }
}

async function showFailure(
  context: AppContext,
  provider: string | Message,
  finished: Extract<SignInFinished, { kind: "failed" }>,
): Promise<Response> {
  const { failure, linking, redirect_to, set_cookies } = finished;
  setCookies(context, set_cookies);
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
    case "not_signed_in_again":
    case "passkey_unknown":
    case "passkey_refused":
      return 403;
    case "issuer_changed":
      return 500;
    case "cancelled":
    case "expired":
    case "mismatch":
    case "link_session_ended":
    case "passkey_missing":
      return 400;
  }
}
