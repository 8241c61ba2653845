/** A person's session in an app: the bearer is a token of a trusted issuer, from the app's own sign-in service. */
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../../domain/limits.ts";
import type { AppSessionProof } from "../../domain/proof.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { AppContext, UserCaller } from "../context.ts";
import { accountCallerOf } from "./account_caller.ts";
import { isOriginAllowed } from "../middleware/origins.ts";
import { countNetworkRequest, countRequest } from "../middleware/rate_limits.ts";
import type { Services } from "../services.ts";

type AppSession = UserCaller & { readonly via: "bearer"; readonly proof: AppSessionProof };
type IssuerToken = NonNullable<Awaited<ReturnType<Services["issuer_tokens"]["verify"]>>>;

/** The caller of a token of a trusted issuer; null for any other token. Only a valid token reaches a store. */
export async function identifyAppSession(
  context: AppContext,
  token: string,
): Promise<Result<AppSession, Refusal> | null> {
  const { issuer_tokens, token_people } = context.get("services");
  if (!issuer_tokens.names(token)) return null;
  let verified: IssuerToken | null;
  try {
    verified = await issuer_tokens.verify(context.get("base_url"), token);
  } catch {
    // The token may be valid, so it is not refused as invalid: its person would be signed out of the app.
    const retry_after_seconds = UNAVAILABLE_RETRY_AFTER_SECONDS;
    return refused({ code: "unavailable", retry_after_seconds });
  }
  if (verified === null || !(await isPartyAllowed(context, verified))) return null;
  const { issuer, party, expires_at_ms, subject } = verified;
  let identity_id = token_people.known(verified);
  if (identity_id === null) {
    // Counted before the query, and by the person, because an app's server sends the tokens of many.
    const limited = await countRequest(context, "authenticated", `${issuer.issuer} ${subject}`);
    if (limited !== null) return refused(limited);
    const found = await token_people.find(verified, () =>
      countNetworkRequest(context, "issuer_person", issuer.issuer),
    );
    if (found.kind === "refused") return refused(found.refusal);
    if (found.kind === "left") return refused({ code: "unauthorized", reason: "account_deleted" });
    identity_id = found.identity_id;
  }
  const { id: issuer_id, upstream } = issuer;
  const proof = { kind: "app_session", issuer_id, party, upstream } as const;
  const account_caller = await accountCallerOf(context, proof);
  return accepted({ identity_id, account_caller, proof, expires_at_ms, via: "bearer" });
}

/** Whether tokens are accepted from the app that a token was issued to. */
async function isPartyAllowed(
  context: AppContext,
  { issuer, party }: IssuerToken,
): Promise<boolean> {
  const { authorized_parties } = issuer;
  if (authorized_parties !== null) return party !== null && authorized_parties.includes(party);
  return party === null || isOriginAllowed(context, party);
}
