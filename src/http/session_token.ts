/** `GET /api/sessionToken[?template=]`: a fresh token for whoever is signed in, by cookie or bearer. */
import type { Refusal } from "../domain/refusals.ts";
import { RATE_LIMIT_AUTHENTICATED_SECONDS } from "../domain/limits.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { Session } from "../identity/port.ts";
import { identify, keepSignedIn } from "./authenticate.ts";
import { factory, type AppContext } from "./context.ts";
import { allowedRedirect } from "./origins.ts";
import { describeRefusal, refuse } from "./refusals.ts";

const SESSION_ENDED = "This session has ended. Sign in again at signin_url.";
const NOT_SIGNED_IN = "Nobody is signed in here. Sign in at signin_url.";

/** Only a session that still lives gets a new token, so a store is asked here and nowhere else. */
export const issueSessionToken = factory.createHandlers(async (context) => {
  const living = await livingSession(context);
  if (!living.ok) return refuseWithSignIn(context, living.refusal);
  const { session, token } = living.value;
  const { limits, config, template_tokens } = context.get("services");
  const { success } = await limits.authenticated.limit({ key: session.identity_id });
  if (!success) {
    const retry_after_seconds = RATE_LIMIT_AUTHENTICATED_SECONDS;
    return refuse(context, { code: "rate_limited", retry_after_seconds });
  }
  const name = context.req.query("template");
  if (name === undefined) return context.json({ token: await token() });
  const templates = config.token_templates;
  const shape = Object.hasOwn(templates, name) ? templates[name] : undefined;
  if (shape === undefined) return refuse(context, { code: "token_template_unknown" });
  const about = { issuer: context.get("base_url"), identity_id: session.identity_id };
  return context.json({ token: await template_tokens(shape, about) });
});

interface LivingSession {
  readonly session: Session;
  /** Signs a session JWT; with cookies, renews them too. */
  readonly token: () => Promise<string>;
}

/** The caller's session, looked up rather than believed. A bearer is never rescued by a cookie. */
async function livingSession(context: AppContext): Promise<Result<LivingSession, Refusal>> {
  const { identity, session_tokens } = context.get("services");
  if (context.req.header("Authorization") === undefined) {
    const resumed = await identity.resume(context.req.raw);
    return resumed.kind === "session"
      ? accepted({
          session: resumed.session,
          token: () => keepSignedIn(context, resumed.session, resumed.set_cookies),
        })
      : refused({ code: "unauthorized", detail: NOT_SIGNED_IN });
  }
  const principal = await identify(context);
  if (!principal.ok) return principal;
  const { session_id, identity_id } = principal.value;
  if (!(await identity.sessionIsAlive(session_id, identity_id))) {
    return refused({ code: "unauthorized", detail: SESSION_ENDED });
  }
  const sign = () => session_tokens.sign(context.get("base_url"), { identity_id, session_id });
  return accepted({ session: { id: session_id, identity_id }, token: sign });
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
