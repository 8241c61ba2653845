/**
 * `POST /oauth/revoke` (RFC 7009): a client ends what it holds. Every token of a family, and an exchanged token, ends with
 * its row, so an access token ends the same as its refresh token. A personal access token, such as a device's, may revoke
 * itself, whichever client sends it.
 */
import { credentialId, PERSONAL_TOKEN_PREFIX } from "../../domain/proof.ts";
import type { RefusalCode } from "../../domain/refusal_codes.ts";
import { allowanceCaller } from "../caller/account_caller.ts";
import { factory } from "../context.ts";
import { authenticateClient, isAsserted } from "./clients.ts";
import { errorFrom, errorOf, invalidRequest, refuseOAuth } from "./errors.ts";
import { credentialsOf, readForm } from "./form.ts";
import { findToken } from "./presented_token.ts";

const OTHER_CLIENT = {
  error: "unauthorized_client",
  error_description:
    "The token was issued to another client. Only that client or the person can end it.",
} as const;

/** The refusals of a personal access token that has ended. */
const HAS_ENDED: readonly RefusalCode[] = ["unauthorized", "account_unknown"];

export const revokeToken = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  if (!form.ok) return refuseOAuth(context, form.refusal);
  const sent = form.value.get("token");
  const token = sent === null ? null : await findToken(context, sent);
  const credentials = credentialsOf(context, form.value);
  const client = await authenticateClient(context, credentials, token?.identity_id ?? null);
  if (!client.ok) return refuseOAuth(context, client.refusal);
  if (sent === null) return refuseOAuth(context, invalidRequest("token is missing."));
  // A token that is not valid needs no revocation, and the client can do nothing about it (section 2.2).
  if (token === null) return context.json({});
  const { client_id } = client.value;
  const { credential, identity_id } = token;
  const account = context.get("services").accounts(identity_id);
  if (sent.startsWith(PERSONAL_TOKEN_PREFIX)) {
    const id = credentialId(credential);
    const revoked = await account.revokeAllowance(allowanceCaller(token), { id });
    return revoked.ok || HAS_ENDED.includes(revoked.refusal.code)
      ? context.json({})
      : refuseOAuth(context, errorFrom(revoked.refusal));
  }
  const client_asserted = isAsserted(client.value);
  const ended = await account.endGrant({ credential, client_id, client_asserted });
  if (!ended.ok && ended.refusal.code !== "account_unknown") {
    return refuseOAuth(context, errorFrom(ended.refusal));
  }
  const problem = ended.ok ? ended.value : null;
  if (problem === null) return context.json({});
  return refuseOAuth(context, problem === "other_client" ? OTHER_CLIENT : errorOf(problem));
});
