/** The response of the token endpoint (RFC 6749, section 5.1; OpenID Connect Core, section 3.1.3.3). */
import type { Answer, FamilyTokens, Granted } from "../../account/contract.ts";
import type { OAuthError } from "../../domain/oauth_errors.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { OAUTH_EXPIRES_IN_SECONDS, OAUTH_TOKEN_TTL_SECONDS } from "../../domain/token_family.ts";
import { isDeletedClient, isDeletedResource } from "../caller/deleted_registrations.ts";
import type { AppContext } from "../context.ts";
import { countNetworkRequest } from "../middleware/rate_limits.ts";
import { errorFrom, errorOf, RESOURCE_DELETED, type Problem } from "./errors.ts";
import type { OAuthForm } from "./form.ts";

export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly scope: string;
  readonly refresh_token?: string;
  readonly id_token?: string;
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
  problem: Problem,
): Promise<Result<never, OAuthError>> {
  const limited = await countNetworkRequest(context, "client_failure");
  return refused(limited === null ? errorOf(problem) : errorFrom(limited));
}

/** What the response has apart from the access token. */
interface Contents {
  readonly refresh_token: boolean;
  readonly id_token: boolean;
}

/** The response of what the account granted. */
export async function respondGranted(
  context: AppContext,
  identity_id: string,
  granted: Answer<Granted>,
  contents: Contents = { refresh_token: true, id_token: true },
): Promise<Result<TokenResponse, OAuthError>> {
  if (!granted.ok) return refused(errorFrom(granted.refusal));
  if (granted.value.kind === "refused") return failed(context, granted.value.problem);
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
  contents: Contents,
): Promise<TokenResponse> {
  const { access_tokens, resource_tokens, refresh_tokens, sign_id_token } = context.get("services");
  const { family_id, generation, rotated_at_ms, client_id, resource, scopes, nonce } = tokens;
  const issuer = context.get("base_url");
  const issued_at_seconds = Math.floor(rotated_at_ms / 1000);
  const ends_at_seconds = Math.floor(tokens.expires_at_ms / 1000);
  const expires_at_seconds = Math.min(issued_at_seconds + OAUTH_TOKEN_TTL_SECONDS, ends_at_seconds);
  const lifetime = { issued_at_seconds, expires_at_seconds };
  const credential = { kind: "family", family_id } as const;
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
        ? await access_tokens.sign(issuer, claims, lifetime)
        : await resource_tokens.sign(issuer, { ...claims, resource }, lifetime, String(generation)),
    token_type: "Bearer",
    expires_in: Math.min(
      OAUTH_EXPIRES_IN_SECONDS,
      Math.max(0, ends_at_seconds - issued_at_seconds),
    ),
    scope: scopes.join(" "),
    ...(contents.refresh_token
      ? { refresh_token: await refresh_tokens.sign({ identity_id, family_id, generation }) }
      : {}),
    ...(contents.id_token && scopes.includes("openid") && !tokens.is_exchanged
      ? { id_token: await sign_id_token(issuer, signed_in, lifetime) }
      : {}),
  };
}
