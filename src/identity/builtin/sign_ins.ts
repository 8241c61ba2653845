/**
 * A sign-in from start to end: sets the flow cookie, checks the provider's response, finds or creates the user.
 */
import type {
  Session,
  SignedIn,
  SignInFailure,
  SignInFinished,
  SignInStart,
  SignInStarted,
} from "../port.ts";
import type { OAuthProvider } from "../../oauth/providers.ts";
import type { StoreUpstreamTokens } from "../../oauth/upstream_tokens.ts";
import {
  authorizationUrl,
  drawFlowSecrets,
  finishAuthorization,
  type Authorized,
} from "./authorization.ts";
import type { Flow, FlowCookies } from "./flow_cookie.ts";
import type { IssuerChanged, Origin } from "./identity_queries.ts";
import type { ReturningPeople } from "./returning_people.ts";

export interface SignInParts {
  readonly providers: readonly OAuthProvider[];
  readonly flows: FlowCookies<Flow>;
  readonly people: ReturningPeople;
  readonly store_upstream_tokens: StoreUpstreamTokens | null;
  /** The session of a request's cookies; null if it has ended. */
  sessionOf(request: Request): Promise<Session | null>;
  /** Starts a session for a user; null: the identity was unlinked meanwhile. */
  signIn(
    user_id: string,
    origin: Origin,
    request: Request,
    base_url: string,
  ): Promise<SignedIn | null>;
}

interface SignIns {
  start(start: SignInStart): Promise<SignInStarted>;
  finish(request: Request, method_id: string, base_url: string): Promise<SignInFinished>;
}

export function createSignIns(parts: SignInParts): SignIns {
  const { providers, flows } = parts;
  return {
    async start({ method_id, base_url, redirect_to, link_to, again }) {
      const provider = providers.find(({ id }) => id === method_id);
      if (provider === undefined) return { kind: "unknown_method" };
      const secrets = drawFlowSecrets();
      const back = redirectUri(base_url, provider);
      const to = await authorizationUrl(provider, back, secrets, again);
      const again_at_ms = again && provider.again_prompt === "login" ? Date.now() : null;
      const flow = { provider: provider.id, ...secrets, redirect_to, link_to, again_at_ms };
      return { kind: "redirect", to, set_cookies: [await flows.seal(base_url, flow)] };
    },
    async finish(request, method_id, base_url) {
      const provider = providers.find(({ id }) => id === method_id);
      if (provider === undefined) return { kind: "unknown_method" };
      const flow = await flows.open(base_url, request);
      if (flow === null) return failed("expired", null, []);
      // A response to another flow does not end the open one, so a forged response cannot.
      if (flow.provider !== provider.id) return failed("mismatch", flow, []);
      const ended = [flows.clear(base_url)];
      if (flow.link_to !== null && !(await isStillSignedIn(parts, request, flow.link_to))) {
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
      return settle(parts, provider, { request, base_url, flow }, authorized.value, ended);
    },
  };
}

/** The callback address. Each provider has its own, so that responses cannot be mixed up. */
function redirectUri(base_url: string, provider: OAuthProvider): string {
  return `${base_url}/signin/callback/${provider.id}`;
}

async function isStillSignedIn(
  parts: SignInParts,
  request: Request,
  link_to: Session,
): Promise<boolean> {
  const session = await parts.sessionOf(request);
  return session?.id === link_to.id && session.identity_id === link_to.identity_id;
}

/** A provider response and its flow. */
interface FlowResponse {
  readonly request: Request;
  readonly base_url: string;
  readonly flow: Flow;
}

/** Links the identity or signs its user in, and stores the upstream tokens. */
async function settle(
  parts: SignInParts,
  { id, issuer, client_id }: OAuthProvider,
  { request, base_url, flow }: FlowResponse,
  { subject, profile, tokens: granted }: Authorized,
  ended: readonly string[],
): Promise<SignInFinished> {
  const { people, store_upstream_tokens } = parts;
  const origin = { provider: id, subject, issuer, client_id };
  const keep = async (identity_id: string, linked_at_ms: number): Promise<void> =>
    store_upstream_tokens?.(identity_id, { ...origin, ...granted, linked_at_ms });
  if (flow.link_to !== null) {
    const linking = await people.link(flow.link_to, origin);
    if (linking.kind === "issuer_changed") return refuseIssuer(linking, origin, flow, ended);
    if (linking.kind !== "linked") return failed(linking.kind, flow, ended);
    await keep(flow.link_to.identity_id, linking.linked_at_ms);
    return { kind: "linked", set_cookies: ended };
  }
  const found = await people.findOrCreate(origin, profile);
  if (found.kind === "issuer_changed") return refuseIssuer(found, origin, flow, ended);
  await keep(found.user_id, found.linked_at_ms);
  const proven = { ...origin, provider: found.provider };
  const signed_in = await parts.signIn(found.user_id, proven, request, base_url);
  if (signed_in === null) return failed("expired", flow, ended);
  const { session, set_cookies } = signed_in;
  const { redirect_to } = flow;
  const cookies = [...set_cookies, ...ended];
  return { kind: "signed_in", session, set_cookies: cookies, redirect_to };
}

/**
 * Equal subjects of two issuers are two people. The provider id stays with the first issuer until the operator
 * gives the new one another id. Nobody can sign in with it meanwhile.
 */
function refuseIssuer(
  changed: IssuerChanged,
  origin: Origin,
  flow: Flow,
  ended: readonly string[],
): SignInFinished {
  reportIssuer(changed, origin);
  return failed("issuer_changed", flow, ended);
}

/** Tells the operator that a provider's id now names another issuer. */
export function reportIssuer(
  { known_issuer }: IssuerChanged,
  { provider, issuer: configured_issuer }: Origin,
): void {
  const remedy =
    "The users of this provider id were issued by known_issuer. Give configured_issuer another id in " +
    "SIGNIN_PROVIDERS.";
  const about = { provider, known_issuer, configured_issuer, remedy };
  console.error({ event: "provider_issuer_changed", ...about });
}

function failed(
  failure: SignInFailure,
  flow: Flow | null,
  set_cookies: readonly string[],
): SignInFinished {
  const linking = flow !== null && flow.link_to !== null;
  return { kind: "failed", failure, redirect_to: flow?.redirect_to ?? null, linking, set_cookies };
}
