/** What the sign-in page offers a request, and who asks for it. */
import { allowedUrl } from "../../domain/origins.ts";
import type { Asking, SignInChoices } from "./signin_page.tsx";
import type { AppContext } from "../../http/context.ts";
import { isLoopbackRequest } from "../../http/middleware/canonical_host.ts";

/** The ways to sign in, and where they lead back to. `target` has passed the allowlist. */
export async function choicesFor(context: AppContext, target: URL | null): Promise<SignInChoices> {
  const { identity } = context.get("services");
  return {
    methods: identity.sign_in_methods,
    redirect_to: target?.href ?? null,
    asking: target === null ? null : await askingFrom(context, target),
    dev_signin: identity.signInDevelopment !== null && isLoopbackRequest(context),
  };
}

/**
 * Who wants the person signed in: the one app that operators registered with this origin, by the name
 * they gave it; else no more than the place is known. The registry is remembered, so that nobody makes
 * D1 work by opening the page. Null where it is a page of our own.
 */
export async function askingFrom(context: AppContext, target: URL): Promise<Asking | null> {
  if (target.origin === context.get("base_url")) return null;
  const registered = await context.get("services").apps.all();
  const its = [...registered.values()].filter(({ origins }) => allowedUrl(target.href, origins));
  const app_name = its.length === 1 ? (its[0]?.name ?? null) : null;
  return { app_name, place: nameOfPlace(target) };
}

/** A web page is known by its host; an app on the device by its scheme. */
function nameOfPlace(target: URL): string {
  return /^https?:$/.test(target.protocol) ? target.host : `${target.protocol}//${target.host}`;
}
