/** `GET /api/sessionToken[?template=]`: a new token for a caller with cookies or a bearer token. */
import * as z from "zod/mini";
import type { Refusal } from "../../../domain/refusals.ts";
import {
  credentialId,
  isForCharging,
  isOfAllowance,
  SHARED_AZP,
  type AllowanceProof,
  type Identified,
  type Proof,
  type SessionProof,
} from "../../../domain/proof.ts";
import { accepted, refused, type Result } from "../../../domain/result.ts";
import { readBearer } from "../../caller/bearer.ts";
import { browserCaller, identify } from "../../caller/authenticate.ts";
import type { AppContext, UserCaller } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { queryText } from "../../validation.ts";
import { receivesTemplate } from "../upstream_tokens/allowed_origin.ts";
import { allowedRedirect, isOriginAllowed } from "../../middleware/origins.ts";
import { countAuthenticated, resumeSession } from "../../middleware/rate_limits.ts";
import { challengeOf, describeRefusal, refuse } from "../../refusals.ts";
import { setSessionCookies } from "../../caller/session_cookies.ts";

const ENDED = "The session or token behind this request has ended. Sign in again at signin_url.";
const NOT_SIGNED_IN = "You are not signed in. Sign in at signin_url.";

/** Queries the session store: only a live session or personal access token gets a new token. */
export const issueSessionToken = endpoint(
  {
    at: "GET /api/sessionToken",
    caller: "user",
    identifies: true,
    query: z.object({ template: z.optional(queryText) }),
    refusals: ["token_template_not_found", "origin_not_allowed"],
  },
  async (context, { query: { template: name } }) => {
    const live = await findLiveCaller(context);
    if (!live.ok) {
      const { refusal } = live;
      return refusal.code === "unauthorized" || refusal.code === "token_expired"
        ? refuseWithSignIn(context, refusal)
        : refuse(context, refusal);
    }
    const { identity_id, proof, token } = live.value;
    const { config, template_tokens } = context.get("services");
    if (name === undefined) return context.json({ token: await token() });
    const templates = config.token_templates;
    const shape = Object.hasOwn(templates, name) ? templates[name] : undefined;
    // Other services cannot check a personal access token's limits or revocation, nor an app's rights.
    if (shape === undefined || proof.kind !== "session") {
      return refuse(context, { code: "token_template_not_found" });
    }
    if (!(await receivesTemplate(context, proof, shape.apps))) {
      return refuse(context, { code: "scope", reason: "template_origin" });
    }
    const about = { issuer: context.get("base_url"), identity_id, azp: proof.azp };
    return context.json({ token: await template_tokens(shape, about) });
  },
);

interface LiveCaller extends Identified {
  /** Signs a session JWT for the proof; if the caller uses cookies, also renews them. */
  readonly token: () => Promise<string>;
}

/** The caller, whose session or token is live now. If the bearer token is not valid, cookies are not tried. */
async function findLiveCaller(context: AppContext): Promise<Result<LiveCaller, Refusal>> {
  const { session_tokens } = context.get("services");
  const sign = (identity_id: string, proof: SessionProof | AllowanceProof, ends_at_ms?: number) =>
    session_tokens.sign(context.get("base_url"), { identity_id, proof, binding: null }, ends_at_ms);
  if (context.req.header("Authorization") === undefined) {
    const resumed = await resumeSession(context);
    if (resumed.kind !== "session") {
      return refused({ code: "unauthorized", detail: NOT_SIGNED_IN });
    }
    const { session, set_cookies } = resumed;
    const caller = await browserCaller(context, session);
    context.set("caller", caller);
    const foreign = await originRefusal(context, caller.proof);
    if (foreign !== null) return refused(foreign);
    const limited = await countAuthenticated(context, caller);
    if (limited !== null) return refused(limited);
    const ended = await endedRefusal(context, caller);
    if (ended !== null) return refused(ended);
    const { identity_id, proof } = caller;
    const token = async () => {
      await setSessionCookies(context, session, set_cookies);
      return sign(identity_id, proof);
    };
    return accepted({ identity_id, proof, token });
  }
  const caller = await identify(context);
  if (!caller.ok) return caller;
  context.set("caller", caller.value);
  const limited = await countAuthenticated(context, caller.value);
  if (limited !== null) return refused(limited);
  const { identity_id, proof, expires_at_ms } = caller.value;
  if (isForCharging(proof)) return refused({ code: "scope", reason: "charge_only" });
  const foreign = await originRefusal(context, proof);
  if (foreign !== null) return refused(foreign);
  const ended = await endedRefusal(context, caller.value);
  if (ended !== null) return refused(ended);
  // Only a refresh token renews an OAuth client's access: otherwise a stolen access token would live on here.
  const is_of_client = proof.kind === "connection";
  const token = async () =>
    // The app's sign-in service decides how long the person stays signed in, so its token is not replaced by one of ours.
    proof.kind === "app_session"
      ? (readBearer(context.req.header("Authorization") ?? "") ?? "")
      : sign(identity_id, proof, is_of_client ? expires_at_ms : undefined);
  return accepted({ identity_id, proof, token });
}

/** The refusal of a caller whose origin is no longer allowed; null if it is allowed. */
async function originRefusal(context: AppContext, proof: Proof): Promise<Refusal | null> {
  if (proof.kind !== "session" || proof.azp === SHARED_AZP) return null;
  const allowed = await isOriginAllowed(context, proof.azp);
  return allowed ? null : { code: "origin_not_allowed" };
}

/**
 * The refusal of a caller that has ended; null for a live one. The identity provider stores sessions; the account stores
 * personal access tokens and suspensions.
 */
async function endedRefusal(context: AppContext, caller: UserCaller): Promise<Refusal | null> {
  const { identity, accounts, living_credentials } = context.get("services");
  const { identity_id, proof, via } = caller;
  // A cookie session was looked up just now.
  const ended = { code: "unauthorized", detail: ENDED } as const;
  if (proof.kind === "session" && via === "bearer") {
    if (!(await identity.isSessionLive(proof.session_id, identity_id))) return ended;
  }
  const credential_id = isOfAllowance(proof) ? credentialId(proof.credential) : null;
  const admitted = await accounts(identity_id).checkCaller(caller.account_caller);
  if (admitted.ok) return null;
  if (admitted.refusal.code !== "unauthorized") return admitted.refusal;
  if (credential_id !== null) living_credentials.forget(credential_id);
  return ended;
}

/** 401 with the URL of a sign-in that returns to the page that sent the request. */
async function refuseWithSignIn(context: AppContext, refusal: Refusal): Promise<Response> {
  context.set("refusal_code", refusal.code);
  const { status, error, headers } = describeRefusal(refusal);
  const challenge = (challengeOf(context, refusal) ?? []).join(", ");
  const signin_url = new URL("/signin", context.get("base_url"));
  const back = await callersPage(context);
  if (back !== null) signin_url.searchParams.set("redirect_to", back.href);
  const body = { error, code: refusal.code, signin_url: signin_url.href };
  return context.json(body, status, {
    ...headers,
    "WWW-Authenticate": `Bearer ${challenge}`.trim(),
  });
}

/** The page in `Referer`, else `Origin`, if a redirect to it is allowed. */
async function callersPage(context: AppContext): Promise<URL | null> {
  for (const name of ["Referer", "Origin"]) {
    const address = context.req.header(name);
    const page = address === undefined ? null : await allowedRedirect(context, address);
    if (page !== null) return page;
  }
  return null;
}
