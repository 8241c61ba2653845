/**
 * `POST /oauth/introspect` (RFC 7662): the app that owns a resource checks whether an access token for it is active now, and a
 * confidential client whether its own token of our API is. The app
 * authenticates with its key as a bearer token, or as one of its confidential clients.
 */
import type { AppProof } from "../../domain/proof.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { OAuthError } from "../../domain/oauth_errors.ts";
import { appKeyOf, findAppOfKey } from "../caller/app_key.ts";
import { isDeletedClient } from "../caller/deleted_registrations.ts";
import { factory, type AppContext } from "../context.ts";
import type { Services } from "../services.ts";
import { countApp } from "../middleware/rate_limits.ts";
import { authenticateClient } from "./clients.ts";
import { errorFrom, invalidRequest, refuseOAuth, UNAVAILABLE } from "./errors.ts";
import { credentialsOf, readForm, type OAuthForm } from "./form.ts";

const NO_APP = {
  error: "invalid_client",
  error_description:
    "Authenticate as a confidential client of the app that owns the resource, or with the app's key as a bearer token.",
} as const;

interface App extends Pick<AppProof, "kind" | "app_slug"> {
  /** Null: the app's key. */
  readonly client_id: string | null;
}

/** The claims of an access token for a resource. */
type Claims = Awaited<ReturnType<Services["resource_tokens"]["verify"]>>;

const INACTIVE = accepted({ active: false });

export const introspectToken = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  if (!form.ok) return refuseOAuth(context, form.refusal);
  const app = await identifyApp(context, form.value);
  if (!app.ok) return refuseOAuth(context, app.refusal);
  const limited = await countApp(context, app.value);
  if (limited !== null) return refuseOAuth(context, errorFrom(limited));
  const token = form.value.get("token");
  if (token === null) return refuseOAuth(context, invalidRequest("token is missing."));
  const described = await describe(context, app.value, token);
  return described.ok ? context.json(described.value) : refuseOAuth(context, described.refusal);
});

/** Refused while this is unknown: "inactive" would sign people out of the resource. */
async function describe(
  context: AppContext,
  app: App,
  token: string,
): Promise<Result<object, OAuthError>> {
  const { accounts } = context.get("services");
  const iss = context.get("base_url");
  const found = await findVisible(context, app, token);
  if (!found.ok || found.value === null) return found.ok ? INACTIVE : found;
  const { resource, identity_id, credential, client_id, scopes, act } = found.value;
  const caller = { kind: "allowance", credential } as const;
  const living = await accounts(identity_id).checkCaller(caller);
  if (!living.ok || (await isDeletedClient(context, client_id, ...living.value))) return INACTIVE;
  return accepted({
    active: true,
    iss,
    sub: identity_id,
    aud: resource,
    client_id,
    scope: scopes.join(" "),
    token_type: "Bearer",
    iat: found.value.issued_at_seconds,
    exp: found.value.expires_at_seconds,
    ...(act === null ? {} : { act }),
  });
}

/** A token that the caller may learn about: of its own resources, or of its own for our API. Null: any other. */
async function findVisible(
  context: AppContext,
  { app_slug, client_id }: App,
  token: string,
): Promise<Result<Claims | null, OAuthError>> {
  const { access_tokens, apps, resource_tokens } = context.get("services");
  const issuer = context.get("base_url");
  const own = client_id === null ? null : await access_tokens.verify(issuer, token);
  if (own !== null)
    return accepted(own.client_id === client_id ? { ...own, resource: issuer } : null);
  const claims = await resource_tokens.verify(issuer, token);
  if (claims === null) return accepted(null);
  const owned = await apps.findResource(claims.resource);
  if (owned.kind === "unreadable") return refused(UNAVAILABLE);
  const is_own = owned.kind === "found" && owned.value.app_slug === app_slug;
  return accepted(is_own ? claims : null);
}

/** The app of the request: of its key, or of the confidential client that authenticates. */
async function identifyApp(context: AppContext, form: OAuthForm): Promise<Result<App, OAuthError>> {
  const key = appKeyOf(context);
  if (key !== null) {
    context.set("sender", { client_id: null, identity_id: null });
    const app = await findAppOfKey(context, key);
    if (app.ok) {
      context.set("own_app", app.value);
      return accepted({ ...app.value, client_id: null });
    }
    return refused(app.refusal.code === "unauthorized" ? NO_APP : errorFrom(app.refusal));
  }
  const client = await authenticateClient(context, credentialsOf(context, form), null);
  if (!client.ok) return client;
  if (client.value.kind !== "registered" || client.value.client.public) return refused(NO_APP);
  const { app_slug } = client.value.client;
  return accepted({ kind: "app", app_slug, client_id: client.value.client_id });
}
