/** `grant_type=refresh_token`: new tokens of a family (OAuth 2.1, section 4.3). */
import { readScope } from "../../../domain/oauth_scopes.ts";
import { refused } from "../../../domain/result.ts";
import { countRequest } from "../../middleware/rate_limits.ts";
import { authenticateClient, isAsserted } from "../clients.ts";
import { errorFrom, invalidRequest } from "../errors.ts";
import { NO_SCOPE } from "../exchange_form.ts";
import { credentialsOf, requestedResource } from "../form.ts";
import { failed, respondGranted, type GrantHandler } from "../tokens.ts";

export const refreshTokens: GrantHandler = async (context, form) => {
  const { accounts, refresh_tokens } = context.get("services");
  const sent = form.get("refresh_token");
  const token = sent === null ? null : await refresh_tokens.read(sent);
  const known_id = token?.identity_id ?? null;
  const client = await authenticateClient(context, credentialsOf(context, form), known_id);
  if (!client.ok) return client;
  if (sent === null) return refused(invalidRequest("refresh_token is missing."));
  if (token === null) return failed(context, "refresh_token_unknown");
  const { identity_id, family_id, generation } = token;
  const limited = await countRequest(context, "token_family", family_id);
  if (limited !== null) return refused(errorFrom(limited));
  const scope = form.get("scope");
  const scopes = scope === null ? undefined : readScope(scope);
  if (scopes?.length === 0) return refused(NO_SCOPE);
  const granted = await accounts(identity_id).refreshFamily({
    family_id,
    generation,
    client_id: client.value.client_id,
    client_asserted: isAsserted(client.value),
    resource: requestedResource(context, form.get("resource")),
    scopes,
  });
  return respondGranted(context, identity_id, granted, { scopes });
};
