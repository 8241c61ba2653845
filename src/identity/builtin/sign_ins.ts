/** One sign-in from start to finish: the flow cookie out, the provider's answer in, a user found. */
import type {
  Session,
  SignedIn,
  SignInFailure,
  SignInFinished,
  SignInStart,
  SignInStarted,
} from "../port.ts";
import type { OAuthProvider } from "../../oauth/providers.ts";
import type { KeepUpstreamTokens } from "../../oauth/upstream_tokens.ts";
import {
  authorizationUrl,
  drawFlowSecrets,
  finishAuthorization,
  type Authorized,
} from "./authorization.ts";
import type { Flow, FlowCookies } from "./flow_cookie.ts";
import type { Users } from "./users.ts";

/** What sign-ins need of their surroundings. */
export interface SignInParts {
  readonly providers: readonly OAuthProvider[];
  readonly flows: FlowCookies;
  readonly users: Users;
  readonly keep_upstream_tokens: KeepUpstreamTokens | null;
  /** The living session of a request's cookies. */
  sessionOf(request: Request): Promise<Session | null>;
  /** Starts a session for a user. */
  signIn(user_id: string, base_url: string): Promise<SignedIn>;
}

export interface SignIns {
  start(start: SignInStart): Promise<SignInStarted>;
  finish(request: Request, method_id: string, base_url: string): Promise<SignInFinished>;
}

/** Sign-ins with the configured providers. */
export function createSignIns(parts: SignInParts): SignIns {
  const { providers, flows } = parts;
  return {
    async start({ method_id, base_url, redirect_to, link_to }) {
      const provider = providers.find(({ id }) => id === method_id);
      if (provider === undefined) return { kind: "unknown_method" };
      const secrets = drawFlowSecrets();
      const to = await authorizationUrl(provider, redirectUri(base_url, provider), secrets);
      const flow = { provider: provider.id, ...secrets, redirect_to, link_to };
      return { kind: "redirect", to, set_cookies: [await flows.seal(base_url, flow)] };
    },
    async finish(request, method_id, base_url) {
      const provider = providers.find(({ id }) => id === method_id);
      if (provider === undefined) return { kind: "unknown_method" };
      const flow = await flows.open(base_url, request);
      if (flow === null) return failed("expired", null, []);
      // An answer to another flow leaves the open one alone: whoever forges it must not end it.
      if (flow.provider !== provider.id) return failed("mismatch", flow, []);
      const ended = [flows.clear(base_url)];
      if (flow.link_to !== null && !(await isStillThere(parts, request, flow.link_to))) {
        return failed("link_session_ended", flow, ended);
      }
      const answer = new URL(request.url).searchParams;
      const redirect_uri = redirectUri(base_url, provider);
      const authorized = await finishAuthorization(provider, redirect_uri, flow, answer);
      if (!authorized.ok) {
        const { failure, reason } = authorized.refusal;
        console.warn({ event: "signin_failed", provider: provider.id, failure, reason });
        return failed(failure, flow, failure === "mismatch" ? [] : ended);
      }
      return settle(parts, base_url, flow, authorized.value, ended);
    },
  };
}

/** Where the provider answers; one address for each, so that their answers cannot be mixed up. */
function redirectUri(base_url: string, provider: OAuthProvider): string {
  return `${base_url}/signin/callback/${provider.id}`;
}

async function isStillThere(
  parts: SignInParts,
  request: Request,
  link_to: Session,
): Promise<boolean> {
  const session = await parts.sessionOf(request);
  return session?.id === link_to.id && session.identity_id === link_to.identity_id;
}

/** Links the identity, or signs its user in; the tokens are kept for whoever has it. */
async function settle(
  parts: SignInParts,
  base_url: string,
  flow: Flow,
  { subject, profile, tokens }: Authorized,
  ended: readonly string[],
): Promise<SignInFinished> {
  const { users, keep_upstream_tokens } = parts;
  if (flow.link_to !== null) {
    const { identity_id } = flow.link_to;
    const linking = await users.link(identity_id, flow.provider, subject);
    if (linking !== "linked") return failed(linking, flow, ended);
    await keep_upstream_tokens?.(identity_id, tokens);
    return { kind: "linked", set_cookies: ended };
  }
  const user_id = await users.findOrCreate(flow.provider, subject, profile);
  await keep_upstream_tokens?.(user_id, tokens);
  const { session, set_cookies } = await parts.signIn(user_id, base_url);
  const { redirect_to } = flow;
  return { kind: "signed_in", session, set_cookies: [...set_cookies, ...ended], redirect_to };
}

function failed(
  failure: SignInFailure,
  flow: Flow | null,
  set_cookies: readonly string[],
): SignInFinished {
  const linking = flow !== null && flow.link_to !== null;
  return { kind: "failed", failure, redirect_to: flow?.redirect_to ?? null, linking, set_cookies };
}
