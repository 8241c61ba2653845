/** `grant_type=authorization_code`: tokens for a code (OAuth 2.1, section 4.1.3). */
import { base64url } from "jose";
import { refused } from "../../../domain/result.ts";
import { countRequest } from "../../middleware/rate_limits.ts";
import { authenticateClient, isAsserted } from "../clients.ts";
import { errorFrom, invalidRequest } from "../errors.ts";
import { credentialsOf, requestedResource } from "../form.ts";
import { failed, respondGranted, type GrantHandler } from "../tokens.ts";

/** RFC 7636, section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

export const redeemCode: GrantHandler = async (context, form) => {
  const { accounts, authorization_codes } = context.get("services");
  const sent = form.get("code");
  const code = sent === null ? null : await authorization_codes.read(sent);
  const identity_id = code?.identity_id ?? null;
  const client = await authenticateClient(context, credentialsOf(context, form), identity_id);
  if (!client.ok) return client;
  if (sent === null) return refused(invalidRequest("code is missing."));
  if (code === null) return failed(context, "code_unknown");
  const verifier = form.get("code_verifier");
  if (verifier !== null && !VERIFIER.test(verifier)) {
    return refused(invalidRequest("code_verifier must be 43 to 128 of A-Z a-z 0-9 . _ ~ -"));
  }
  const limited = await countRequest(context, "token_family", code.code_hash);
  if (limited !== null) return refused(errorFrom(limited));
  const { client_id } = client.value;
  const granted = await accounts(code.identity_id).redeemCode({
    code_hash: code.code_hash,
    client_id,
    client_asserted: isAsserted(client.value),
    redirect_uri: form.get("redirect_uri"),
    resource: requestedResource(context, form.get("resource")),
    code_challenge: verifier === null ? null : await challengeOf(verifier),
  });
  return respondGranted(context, code.identity_id, granted);
};

/** PKCE's S256 challenge of a verifier (RFC 7636, section 4.2). */
async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64url.encode(new Uint8Array(digest));
}
