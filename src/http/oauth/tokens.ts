/** The response of the token endpoint (RFC 6749, section 5.1; OpenID Connect Core, section 3.1.3.3). */
import type { Answer, FamilyTokens, Granted } from "../../account/contract.ts";
import { shownAccess } from "../../domain/allowance.ts";
import type { OAuthError } from "../../domain/oauth_errors.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { OAUTH_EXPIRES_IN_SECONDS, OAUTH_TOKEN_TTL_SECONDS } from "../../domain/token_family.ts";
import { isDeletedClient, isDeletedResource } from "../caller/deleted_registrations.ts";
import type { AppContext } from "../context.ts";
import { countNetworkRequest } from "../middleware/rate_limits.ts";
import { errorFrom, errorOf, RESOURCE_DELETED, widerScope, type Problem } from "./errors.ts";
import type { OAuthForm } from "./form.ts";
import { detailsOf } from "./spending_details.ts";

export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly scope: string;
  readonly refresh_token?: string;
  readonly id_token?: string;
  /** The limits of a token of our API, or of a resource that charges (RFC 9396, section 7). */
  readonly authorization_details?: ReturnType<typeof detailsOf>;
  /** Only of an exchange (RFC 8693, section 2.2.1). */
  readonly issued_token_type?: string;
}

/** Serves one grant type. The form and the client's credentials are not checked yet. */
export type GrantHandler = (
  context: AppContext,
  form: OAuthForm,
) => Promise<Result<TokenResponse, OAuthError>>;

/** A failure counts for the network: a guesser's requests all fail. */
export async function failed(
  context: AppContext,
  problem: Problem | OAuthError,
): Promise<Result<never, OAuthError>> {
  const limited = await countNetworkRequest(context, "client_failure");
  if (limited !== null) return refused(errorFrom(limited));
  return refused(typeof problem === "string" ? errorOf(problem) : problem);
}

/** The fields of the response. */
interface Contents {
  /** Without a refresh token, or without an ID token; both if omitted. */
  readonly without?: readonly ("refresh_token" | "id_token")[];
  /** The only scopes that the access token has; all if undefined. The refresh token keeps all (RFC 6749, section 6). */
  readonly scopes?: readonly string[] | undefined;
}

/** The response of what the account granted. */
export async function respondGranted(
  context: AppContext,
  identity_id: string,
  granted: Answer<Granted>,
  contents: Contents = {},
): Promise<Result<TokenResponse, OAuthError>> {
  if (!granted.ok) return refused(errorFrom(granted.refusal));
  if (granted.value.kind === "refused") {
    const { problem } = granted.value;
    const is_wider = problem === "wider_scope";
    return failed(context, is_wider ? widerScope(granted.value.scopes) : problem);
  }
  const { tokens } = granted.value;
  if (await isDeletedClient(context, ...tokens.client_ids))
    return refused(errorOf("allowance_ended"));
  if (await isDeletedResource(context, tokens.resource)) return refused(RESOURCE_DELETED);
  return accepted(await derive(context, identity_id, tokens, contents));
}

/** All of it follows from the family's row, so that a repeated request gets the same response. */
async function derive(
  context: AppContext,
  identity_id: string,
  tokens: FamilyTokens,
  { without = [], scopes: requested = tokens.scopes }: Contents,
): Promise<TokenResponse> {
  const { access_tokens, resource_tokens, refresh_tokens, sign_id_token } = context.get("services");
  const { family_id, generation, rotated_at_ms, client_id, resource, nonce } = tokens;
  const scopes = tokens.scopes.filter((scope) => requested.includes(scope));
  const issuer = context.get("base_url");
  const now_seconds = Math.floor(Date.now() / 1000);
  const rotated_at_seconds = Math.floor(rotated_at_ms / 1000);
  // A response that is repeated after hours has an access token that is still valid.
  const age_seconds = Math.max(0, now_seconds - rotated_at_seconds);
  const issue = Math.floor(age_seconds / OAUTH_EXPIRES_IN_SECONDS);
  const issued_at_seconds = rotated_at_seconds + issue * OAUTH_EXPIRES_IN_SECONDS;
  const ends_at_seconds = Math.floor(tokens.expires_at_ms / 1000);
  const expires_at_seconds = Math.min(issued_at_seconds + OAUTH_TOKEN_TTL_SECONDS, ends_at_seconds);
  const lifetime = { issued_at_seconds, expires_at_seconds };
  const credential = { kind: "family", family_id, generation, scopes } as const;
  const is_narrower = scopes.length < tokens.scopes.length;
  const id = [issue, ...(is_narrower ? scopes : [])].join(" ");
  const claims = { identity_id, credential, client_id, scopes, act: null };
  const auth_time_seconds = Math.floor(tokens.auth_time_ms / 1000);
  const signed_in = {
    identity_id,
    client_id,
    auth_time_seconds,
    // Only for the token of the code: the client has checked it, and forgotten it.
    nonce: generation === 1 ? nonce : null,
  };
  return {
    access_token:
      resource === null
        ? await access_tokens.sign(issuer, claims, lifetime, id)
        : await resource_tokens.sign(issuer, { ...claims, resource }, lifetime, id),
    token_type: "Bearer",
    expires_in: Math.min(OAUTH_EXPIRES_IN_SECONDS, Math.max(0, expires_at_seconds - now_seconds)),
    scope: scopes.join(" "),
    ...(shownAccess(scopes) !== "none"
      ? { authorization_details: detailsOf(tokens.terms, issued_at_seconds) }
      : {}),
    ...(!without.includes("refresh_token")
      ? { refresh_token: await refresh_tokens.sign({ identity_id, family_id, generation }) }
      : {}),
    ...(!without.includes("id_token") && scopes.includes("openid") && !tokens.is_exchanged
      ? { id_token: await sign_id_token(issuer, signed_in, lifetime) }
      : {}),
  };
}
