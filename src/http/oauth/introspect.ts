/**
 * `POST /oauth/introspect` (RFC 7662): the app that owns a resource checks whether an access token for it is active now. It
 * authenticates with its key as a bearer token, or as one of its confidential clients.
 */
import type { AppProof } from "../../domain/proof.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { OAuthError } from "../../domain/oauth_errors.ts";
import { findAppOfKey, readAppKey } from "../caller/app_key.ts";
import { isDeletedClient } from "../caller/deleted_registrations.ts";
import { factory, type AppContext } from "../context.ts";
import { countApp } from "../middleware/rate_limits.ts";
import { authenticateClient } from "./clients.ts";
import { errorFrom, invalidRequest, refuseOAuth, UNAVAILABLE } from "./errors.ts";
import { credentialsOf, readForm, type OAuthForm } from "./form.ts";

const NO_APP = {
  error: "invalid_client",
  error_description:
    "Authenticate as a confidential client of the app that owns the resource, or with the app's key as a bearer token.",
} as const;

type App = Pick<AppProof, "kind" | "app_slug">;

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
  const described = await describe(context, app.value.app_slug, token);
  return described.ok ? context.json(described.value) : refuseOAuth(context, described.refusal);
});

/** Refused while this is unknown: "inactive" would sign people out of the resource. */
async function describe(
  context: AppContext,
  app_slug: string,
  token: string,
): Promise<Result<object, OAuthError>> {
  const { accounts, apps, resource_tokens } = context.get("services");
  const iss = context.get("base_url");
  const claims = await resource_tokens.verify(iss, token);
  if (claims === null) return INACTIVE;
  const { resource, identity_id, credential, client_id, scopes, act } = claims;
  const owned = await apps.findResource(resource);
  if (owned.kind === "unreadable") return refused(UNAVAILABLE);
  if (owned.kind !== "found" || owned.value.app_slug !== app_slug) return INACTIVE;
  const caller = { kind: "personal_token", credential } as const;
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
    iat: claims.issued_at_seconds,
    exp: claims.expires_at_seconds,
    ...(act === null ? {} : { act }),
  });
}

/** The app of the request: of its key, or of the confidential client that authenticates. */
async function identifyApp(context: AppContext, form: OAuthForm): Promise<Result<App, OAuthError>> {
  const key = readAppKey(context.req.header("Authorization") ?? "");
  if (key !== null) {
    context.set("sender_examined", true);
    const app = await findAppOfKey(context, key);
    if (app.ok) return app;
    return refused(app.refusal.code === "unauthorized" ? NO_APP : errorFrom(app.refusal));
  }
  const client = await authenticateClient(context, credentialsOf(context, form), null);
  if (!client.ok) return client;
  if (client.value.kind !== "registered" || client.value.client.public) return refused(NO_APP);
  const { app_slug } = client.value.client;
  return accepted({ kind: "app", app_slug });
}
