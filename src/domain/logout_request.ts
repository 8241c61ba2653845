/** The parameters of a client's request to sign a person out (OpenID Connect RP-Initiated Logout 1.0, section 2). Pure. */
import { accepted, refused, type Result } from "./result.ts";

/** Null: not sent. A parameter without a value counts as not sent; `logout_hint` and `ui_locales` have no meaning here. */
interface LogoutRequest {
  /** An ID token of this service, which may have expired. */
  readonly id_token_hint: string | null;
  readonly client_id: string | null;
  readonly post_logout_redirect_uri: string | null;
  readonly state: string | null;
}

const KNOWN = ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"] as const;

/** Refused: a parameter was sent twice. */
export function readLogoutRequest(query: URLSearchParams): Result<LogoutRequest, "repeated"> {
  const values = KNOWN.map((name) => query.getAll(name).filter((value) => value !== ""));
  if (values.some(({ length }) => length > 1)) return refused("repeated");
  const [id_token_hint, client_id, post_logout_redirect_uri, state] = values.map(
    ([value]) => value,
  );
  return accepted({
    id_token_hint: id_token_hint ?? null,
    client_id: client_id ?? null,
    post_logout_redirect_uri: post_logout_redirect_uri ?? null,
    state: state ?? null,
  });
}

/** The address that a browser goes to afterwards, with the client's `state`. */
export function postLogoutAddress(uri: string, state: string | null): string {
  if (state === null) return uri;
  const parameters = new URLSearchParams({ state });
  return `${uri}${uri.includes("?") ? "&" : "?"}${parameters.toString()}`;
}
