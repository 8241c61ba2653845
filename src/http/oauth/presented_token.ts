/** A token that a client or an app sends to introspect or revoke it. */
import type { Credential } from "../../domain/proof.ts";
import type { AppContext } from "../context.ts";

interface PresentedToken {
  readonly identity_id: string;
  readonly credential: Credential;
}

/** The row behind a refresh token, an access token or a personal access token; null: it is not one of ours, or it has expired. */
export async function findToken(
  context: AppContext,
  token: string,
): Promise<PresentedToken | null> {
  const { access_tokens, personal_tokens, refresh_tokens, resource_tokens } =
    context.get("services");
  const issuer = context.get("base_url");
  const personal = await personal_tokens.verify(issuer, token);
  if (personal !== null) {
    const { identity_id, personal_token_id: allowance_id } = personal;
    return { identity_id, credential: { kind: "allowance", allowance_id } };
  }
  const refresh = await refresh_tokens.read(token);
  if (refresh !== null) {
    const { identity_id, family_id, generation } = refresh;
    return { identity_id, credential: { kind: "family", family_id, generation, scopes: "all" } };
  }
  return (await access_tokens.verify(issuer, token)) ?? resource_tokens.verify(issuer, token);
}
