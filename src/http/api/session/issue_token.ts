/** `GET /api/sessionToken[?template=]`: a fresh token for whoever is signed in, by cookie or bearer. */
import type { Refusal } from "../../../domain/refusals.ts";
import { SHARED_AZP, type Identified, type Proof } from "../../../domain/proof.ts";
import { accepted, refused, type Result } from "../../../domain/result.ts";
import { browserCaller, identify } from "../../caller/authenticate.ts";
import { callerFrom, factory, type AppContext, type UserCaller } from "../../context.ts";
import { allowedRedirect, isOriginAllowed } from "../../middleware/origins.ts";
import { countAuthenticated, resumeSession } from "../../middleware/rate_limits.ts";
import { describeRefusal, refuse } from "../../refusals.ts";
import { setSessionCookies } from "../../caller/session_cookies.ts";

const ENDED = "What this token was made from has ended. Sign in again at signin_url.";
const NOT_SIGNED_IN = "Nobody is signed in here. Sign in at signin_url.";

/** Only what still lives gets a new token, so a store is asked here. */
export const issueSessionToken = factory.createHandlers(async (context) => {
  const living = await findLiveCaller(context);
  if (!living.ok) {
    const { refusal } = living;
    return ["rate_limited", "suspended", "scope", "origin_not_allowed"].includes(refusal.code)
      ? refuse(context, refusal)
      : refuseWithSignIn(context, refusal);
  }
  const { identity_id, proof, token } = living.value;
  const { config, template_tokens } = context.get("services");
  const name = context.req.query("template");
  if (name === undefined) return context.json({ token: await token() });
  const templates = config.token_templates;
  const shape = Object.hasOwn(templates, name) ? templates[name] : undefined;
  // Other services know nothing of a personal access token's limits, nor of its end.
  if (shape === undefined || proof.kind === "personal_token") {
    return refuse(context, { code: "token_template_unknown" });
  }
  const about = { issuer: context.get("base_url"), identity_id };
  return context.json({ token: await template_tokens(shape, about) });
});

interface Living extends Identified {
  /** Signs a session JWT bound to the proof; with cookies, renews them too. */
  readonly token: () => Promise<string>;
}

/** The caller, looked up rather than believed. A bearer is never rescued by a cookie. */
async function findLiveCaller(context: AppContext): Promise<Result<Living, Refusal>> {
  const { session_tokens } = context.get("services");
  const sign = (identified: Identified) =>
    session_tokens.sign(context.get("base_url"), { ...identified, binding: null });
  if (context.req.header("Authorization") === undefined) {
    const resumed = await resumeSession(context);
    if (resumed.kind !== "session") {
      return refused({ code: "unauthorized", detail: NOT_SIGNED_IN });
    }
    const { session, set_cookies } = resumed;
    const principal = browserCaller(context, session);
    const foreign = await whyForeign(context, principal.proof);
    if (foreign !== null) return refused(foreign);
    const limited = await countAuthenticated(context, principal);
    if (limited !== null) return refused(limited);
    const ended = await whyEnded(context, principal);
    if (ended !== null) return refused(ended);
    const { identity_id, proof } = principal;
    const token = async () => {
      await setSessionCookies(context, session, set_cookies);
      return sign({ identity_id, proof });
    };
    return accepted({ identity_id, proof, token });
  }
  const principal = await identify(context);
  if (!principal.ok) return principal;
  const limited = await countAuthenticated(context, principal.value);
  if (limited !== null) return refused(limited);
  const { identity_id, proof } = principal.value;
  const foreign = await whyForeign(context, proof);
  if (foreign !== null) return refused(foreign);
  const ended = await whyEnded(context, principal.value);
  if (ended !== null) return refused(ended);
  return accepted({ identity_id, proof, token: () => sign({ identity_id, proof }) });
}

/**
 * Why the origin that acts gets no token; null if it does. An origin that was taken off the allowlist gets no new
 * one for the old.
 */
async function whyForeign(context: AppContext, proof: Proof): Promise<Refusal | null> {
  if (proof.kind === "personal_token" || proof.azp === SHARED_AZP) return null;
  const allowed = await isOriginAllowed(context, proof.azp);
  return allowed ? null : { code: "origin_not_allowed" };
}

/**
 * Why a caller gets no token; null where they do. Sessions live at the identity provider; personal
 * access tokens in the account, which also knows whether its holder is let in at all.
 */
async function whyEnded(context: AppContext, who: UserCaller): Promise<Refusal | null> {
  const { identity, accounts, living_personal_tokens } = context.get("services");
  const { identity_id, proof, via } = who;
  // A session that came by cookie was looked up just now.
  const ended = { code: "unauthorized", detail: ENDED } as const;
  if (proof.kind === "session" && via === "bearer") {
    if (!(await identity.sessionIsAlive(proof.session_id, identity_id))) return ended;
  }
  const personal_token_id = proof.kind === "personal_token" ? proof.personal_token_id : null;
  const admitted = await accounts(identity_id).checkCaller(callerFrom(proof));
  if (admitted.ok) return null;
  if (admitted.refusal.code === "suspended") return admitted.refusal;
  if (personal_token_id !== null) living_personal_tokens.forget(personal_token_id);
  return ended;
}

/** 401 with the address that signs in and comes back to the page that asked. */
async function refuseWithSignIn(context: AppContext, refusal: Refusal): Promise<Response> {
  const { status, error, headers } = describeRefusal(refusal);
  const signin_url = new URL("/signin", context.get("base_url"));
  const back = await callersPage(context);
  if (back !== null) signin_url.searchParams.set("redirect_to", back.href);
  return context.json({ error, code: refusal.code, signin_url: signin_url.href }, status, headers);
}

/** The `Referer`, or the `Origin` where that says less, if people may be sent there. */
async function callersPage(context: AppContext): Promise<URL | null> {
  for (const name of ["Referer", "Origin"]) {
    const address = context.req.header(name);
    const page = address === undefined ? null : await allowedRedirect(context, address);
    if (page !== null) return page;
  }
  return null;
}
