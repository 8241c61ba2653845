/**
 * `GET /oauth/logout`: a client signs the person of this browser out (OpenID Connect RP-Initiated Logout 1.0). With an ID token
 * of the person who is signed in, it happens at once; otherwise the page asks. `POST` with the same parameters redirects
 * here, because a browser sends no session with a form of another site.
 */
import { postLogoutAddress, readLogoutRequest } from "../../domain/logout_request.ts";
import type { OAuthClient } from "../../domain/oauth_client.ts";
import { matchesRedirect } from "../../domain/redirect_match.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { clearSessionCookies } from "../../http/caller/session_cookies.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { resolveClient } from "../../http/oauth/clients.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { CannotSignOutPage, SignOutPage, type CannotSignOut } from "./logout_pages.tsx";

/** A request that can be followed. */
interface ReadLogout {
  /** Null: the request names none. */
  readonly client: OAuthClient | null;
  /** Whose ID token the request has; null: it has none. */
  readonly hinted_identity_id: string | null;
  /** Where the browser goes when nobody is signed in any more. */
  readonly target: string;
}

type Reading =
  | { readonly kind: "read"; readonly logout: ReadLogout }
  | { readonly kind: "cannot"; readonly problem: CannotSignOut; readonly address?: string }
  | { readonly kind: "busy"; readonly refusal: Refusal };

const SIGNED_OUT = "/signin?notice=signed_out";

export const showLogout = factory.createHandlers(async (context) => {
  const query = new URL(context.req.url).searchParams;
  const reading = await readLogout(context, query);
  if (reading.kind !== "read") return refuseLogout(context, reading);
  const { client, hinted_identity_id, target } = reading.logout;
  const session = context.get("session");
  if (session === undefined) return leave(context, target);
  if (hinted_identity_id === session.identity_id) return signOut(context, target);
  return context.html(<SignOutPage client={client} target={target} query={query} />);
});

/** The form of the page. */
export const confirmLogout = factory.createHandlers(async (context) => {
  const reading = await readLogout(context, new URL(context.req.url).searchParams);
  return reading.kind === "read"
    ? signOut(context, reading.logout.target)
    : refuseLogout(context, reading);
});

async function signOut(context: AppContext, target: string): Promise<Response> {
  const { set_cookies } = await context.get("services").identity.signOut(context.req.raw);
  clearSessionCookies(context, set_cookies);
  return leave(context, target);
}

function leave(context: AppContext, target: string): Response {
  context.header("Referrer-Policy", "no-referrer");
  return context.redirect(target, 303);
}

function refuseLogout(
  context: AppContext,
  reading: Exclude<Reading, { kind: "read" }>,
): Response | Promise<Response> {
  if (reading.kind === "busy") return refuseWithPage(context, reading.refusal);
  return context.html(<CannotSignOutPage {...reading} />, 400);
}

async function readLogout(context: AppContext, query: URLSearchParams): Promise<Reading> {
  const request = readLogoutRequest(query);
  if (!request.ok) return { kind: "cannot", problem: "parameter_repeated" };
  const { id_token_hint, post_logout_redirect_uri: address, state } = request.value;
  const { read_id_token } = context.get("services");
  const hint =
    id_token_hint === null ? null : await read_id_token(context.get("base_url"), id_token_hint);
  const hinted_identity_id = hint?.identity_id ?? null;
  if (hint === null && id_token_hint !== null) return { kind: "cannot", problem: "hint_invalid" };
  const client_id = request.value.client_id ?? hint?.client_id ?? null;
  if (hint !== null && hint.client_id !== client_id) {
    return { kind: "cannot", problem: "hint_of_other_client" };
  }
  const to_signin = new URL(SIGNED_OUT, context.get("base_url")).href;
  if (client_id === null) {
    return address === null
      ? { kind: "read", logout: { client: null, hinted_identity_id, target: to_signin } }
      : { kind: "cannot", problem: "client_missing" };
  }
  const session = context.get("session");
  const found = await resolveClient(context, client_id, session?.identity_id ?? hinted_identity_id);
  switch (found.kind) {
    case "refused":
      return { kind: "busy", refusal: found.refusal };
    case "unknown":
      return { kind: "cannot", problem: "client_unknown" };
    // Nobody is signed in, and no ID token proves that this client ever had a person here: its address is not followed.
    case "sign_in_first":
      return { kind: "read", logout: { client: null, hinted_identity_id, target: to_signin } };
    case "found": {
      const { client } = found;
      if (address === null)
        return { kind: "read", logout: { client, hinted_identity_id, target: to_signin } };
      return matchesRedirect(address, client.post_logout_redirect_uris)
        ? {
            kind: "read",
            logout: { client, hinted_identity_id, target: postLogoutAddress(address, state) },
          }
        : { kind: "cannot", problem: "address_unknown", address };
    }
  }
}
