/** Reads the OAuth access tokens that Clerk holds for a person (Clerk's Backend API, `GetOAuthAccessToken`). */
import { accepted, refused, type Result } from "../domain/result.ts";
import type { Refusal } from "../domain/refusals.ts";
import { requestUpstream, UpstreamFailure } from "./ask.ts";

interface ClerkSettings {
  readonly secret_key: string;
  readonly api_url: string;
}

/**
 * The access token of a person's connection, which Clerk renews if it can. Refused as `token_not_found`,
 * `reconnect_required` or `upstream_unavailable`.
 */
export type ReadClerkToken = (
  clerk_user_id: string,
  provider: string,
) => Promise<Result<{ readonly token: string }, Refusal>>;

/** `provider` is our id, such as `github` or `custom-acme`; Clerk's is `oauth_github` or `oauth_custom_acme`. */
export function createClerk({ secret_key, api_url }: ClerkSettings): ReadClerkToken {
  return async (clerk_user_id, provider) => {
    const user = encodeURIComponent(clerk_user_id);
    const strategy = `oauth_${provider.replaceAll("-", "_")}`;
    const url = `${api_url}/v1/users/${user}/oauth_access_tokens/${strategy}`;
    const headers = { Authorization: `Bearer ${secret_key}`, Accept: "application/json" };
    let status: number | null = null;
    try {
      const answer = await requestUpstream(url, { headers });
      ({ status } = answer);
      return readAnswer(status, JSON.parse(answer.text));
    } catch (error) {
      if (error instanceof UpstreamFailure) return unavailable(error.status, error.problem);
      return unavailable(status, "not_json");
    }
  };
}

function readAnswer(status: number, body: unknown): Awaited<ReturnType<ReadClerkToken>> {
  if (status === 200) {
    const token = Array.isArray(body) ? firstToken(body) : undefined;
    if (token === undefined) return unavailable(status, "unexpected_body");
    return token === null ? refused({ code: "token_not_found" }) : accepted({ token });
  }
  if (status === 404) return refused({ code: "token_not_found" });
  if (status !== 400 && status !== 422) return unavailable(status, "refused");
  const code = readErrorCode(body);
  console.warn({ event: "clerk_token_refused", status, code });
  // Such as oauth_missing_refresh_token and oauth_token_retrieval_error: the connection exists, and cannot be renewed.
  return refused({ code: /^oauth_.*token/.test(code) ? "reconnect_required" : "token_not_found" });
}

/** The first token of the list; null for an empty list, undefined for another form. */
function firstToken([first]: readonly { readonly token?: unknown }[]): string | null | undefined {
  if (first === undefined) return null;
  return typeof first?.token === "string" && first.token !== "" ? first.token : undefined;
}

/** The code of the first error. Any other text may quote what was sent. */
function readErrorCode(body: unknown): string {
  const { errors } = (body ?? {}) as { errors?: readonly { code?: unknown }[] };
  const code = Array.isArray(errors) ? errors[0]?.code : null;
  return typeof code === "string" && /^[a-z_]{1,60}$/.test(code) ? code : "unknown";
}

/** Also for a wrong key and for Clerk's rate limit: the person can do nothing about them. */
function unavailable(upstream_status: number | null, reason: string) {
  console.warn({ event: "clerk_unavailable", status: upstream_status, reason });
  return refused({ code: "upstream_unavailable", upstream_status } as const);
}
