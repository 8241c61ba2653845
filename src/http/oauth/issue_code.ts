/** The authorization code for a client that a signed-in person agreed to. */
import { HOLDER, type Answer, type AuthorizeClientRequest } from "../../account/contract.ts";
import { accepted, refused } from "../../domain/result.ts";
import type { AppContext } from "../context.ts";

/**
 * The authorization code for a client; null: the existing connection does not cover the request, so the holder must be
 * asked. Refused as `limit_reached`, or if the session has ended meanwhile.
 */
export async function issueCode(
  context: AppContext,
  identity_id: string,
  request: Omit<AuthorizeClientRequest, "code_hash">,
): Promise<Answer<string | null>> {
  const { accounts, authorization_codes, identity } = context.get("services");
  const account = accounts(identity_id);
  const { code, code_hash } = await authorization_codes.issue(identity_id);
  const authorized = await account.authorizeClient(HOLDER, { ...request, code_hash });
  if (!authorized.ok || authorized.value === null) return authorized as Answer<null>;
  // After the rows and not before: what ended between a check and the rows would have found nothing to end.
  const { session_id, signin_method } = request;
  const session = await identity.readSession(session_id, identity_id);
  if (session !== null && session.signin_method === signin_method) return accepted(code);
  await account.endSessions([session_id]);
  if (session !== null && signin_method !== null) {
    await account.revokeApprovedBy({ kind: "signin_method", signin_method });
  }
  return refused({ code: "unauthorized", reason: "session_ended" });
}
