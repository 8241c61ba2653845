/**
 * The proof that a person signed in for an authorization request with `prompt=login` or `max_age`. The sign-in page adds it
 * to the address that the person returns to, because the request by itself would require a sign-in again and again. It is
 * sealed for one session and one request, so that nobody skips the sign-in by editing an address.
 */
import type { AppContext } from "../../http/context.ts";
import type { Session } from "../../identity/port.ts";

/** Our own parameter: any value requires a new sign-in on the sign-in page, and only a proof counts here. */
const PARAMETER = "new_sign_in";

/** As long as a shown consent page can be used. */
const PROOF_TTL_MS = 15 * 60 * 1000;

/** Room for a proof in an address: about 130 characters, and the id of the sealing key. */
export const PROOF_MAX_LENGTH = 200;

/** Marks the address of a request, without its former proof. */
export function setNewSignIn(query: URLSearchParams, is_required: boolean): void {
  query.delete(PARAMETER);
  if (is_required) query.set(PARAMETER, "required");
}

/** Whether a person returns to a request that requires a new sign-in: then a session at a provider is not enough. */
export function needsNewSignIn(context: AppContext, target: URL | null): target is URL {
  const is_ours = target?.origin === context.get("base_url");
  return is_ours && target.pathname === "/oauth/authorize" && target.searchParams.has(PARAMETER);
}

/** The address that a person returns to after they signed in for it: it proves this, if the request requires a new sign-in. */
export async function returnToRequest(
  context: AppContext,
  { id }: Session,
  target: URL | null,
): Promise<URL | null> {
  if (!needsNewSignIn(context, target)) return target;
  const { consent_forms } = context.get("services");
  const proven = new URL(target);
  const address = addressOf(context, target.searchParams);
  proven.searchParams.set(PARAMETER, await consent_forms.seal(address, id, PROOF_TTL_MS));
  return proven;
}

/** Whether this session started for a request. */
export async function isNewSignIn(
  context: AppContext,
  query: URLSearchParams,
  { id }: Session,
): Promise<boolean> {
  const { consent_forms } = context.get("services");
  const proof = await consent_forms.open(addressOf(context, query), query.get(PARAMETER) ?? "");
  return proof !== null && !proof.is_expired && proof.text === id;
}

/** The purpose that a proof is sealed for: the request without its proof. */
function addressOf(context: AppContext, query: URLSearchParams): string {
  const request = new URLSearchParams(query);
  setNewSignIn(request, false);
  return `${context.get("base_url")}/oauth/authorize?${request.toString()}`;
}
