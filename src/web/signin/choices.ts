/** The content of the sign-in page: the sign-in methods, and the app that the person signs in to. */
import { allowedUrl } from "../../domain/origins.ts";
import type { RequestingApp, SignInChoices } from "./signin_page.tsx";
import type { AppContext } from "../../http/context.ts";
import { isLoopbackRequest } from "../../http/middleware/canonical_host.ts";

/** `target`: the address to return to, which has passed the allowlist. */
export async function choicesFor(context: AppContext, target: URL | null): Promise<SignInChoices> {
  const { config, identity } = context.get("services");
  return {
    methods: identity.sign_in_methods,
    passkey_signin: identity.passkeys !== null,
    redirect_to: target?.href ?? null,
    requesting_app: target === null ? null : await requestingAppOf(context, target),
    dev_signin: identity.signInDevelopment !== null && isLoopbackRequest(context),
    closed_services: config.trusted_issuers
      .filter(({ has_signin_provider }) => !has_signin_provider)
      .map(({ name }) => name),
  };
}

/**
 * The app that the person signs in to. Its name and look are known if exactly one registered app has this origin. The
 * registry is cached, so that opening the page does not load D1. Null for our own pages.
 */
export async function requestingAppOf(
  context: AppContext,
  target: URL,
): Promise<RequestingApp | null> {
  if (target.origin === context.get("base_url")) return null;
  const registered = await context.get("services").apps.all();
  const matching = [...registered.values()].filter(({ origins }) =>
    allowedUrl(target.href, origins),
  );
  const [only = null] = matching.length === 1 ? matching : [];
  return { look: only, host: hostOf(target) };
}

/** The host of a web page, or the scheme and host of an app on the device. */
function hostOf(target: URL): string {
  return /^https?:$/.test(target.protocol) ? target.host : `${target.protocol}//${target.host}`;
}
