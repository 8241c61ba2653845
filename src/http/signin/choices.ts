/** What the sign-in page offers a request. */
import type { SignInChoices } from "../../pages/signin.tsx";
import type { AppContext } from "../context.ts";
import { isSentToLoopback } from "../own_address.ts";

/** The ways to sign in, and where they lead back to. `target` has passed the allowlist. */
export function choicesFor(context: AppContext, target: URL | null): SignInChoices {
  const { identity } = context.get("services");
  return {
    methods: identity.sign_in_methods,
    redirect_to: target?.href ?? null,
    returns_to: target === null ? null : nameOfPlace(target),
    dev_signin: identity.signInDevelopment !== null && isSentToLoopback(context),
  };
}

/** A web page is known by its host; an app on the device by its scheme. */
function nameOfPlace(target: URL): string {
  return /^https?:$/.test(target.protocol) ? target.host : `${target.protocol}//${target.host}`;
}
