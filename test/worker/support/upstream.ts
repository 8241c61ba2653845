/**
 * A provider's token endpoint, as strict as real ones: each use of a refresh token returns the next one, and a
 * second use revokes the whole grant (RFC 9700, section 4.14.2).
 */
import { vi } from "vitest";
import { UPSTREAM_TIMEOUT_MS } from "../../../src/domain/limits.ts";
import type { UpstreamTokens } from "../../../src/oauth/upstream_tokens.ts";

export const PROVIDER = {
  id: "acme",
  name: "Acme",
  issuer: "https://acme.test",
  authorization_endpoint: "https://acme.test/authorize",
  token_endpoint: "https://acme.test/token",
  userinfo_endpoint: "https://acme.test/me",
  scope: "profile offline_access",
  client_id: "passbook",
  client_secret: "acme-client-secret",
};

/** `SIGNIN_PROVIDERS` with that provider, and with more of them. */
export const providers = (...more: readonly object[]) => ({
  SIGNIN_PROVIDERS: JSON.stringify([PROVIDER, ...more]),
});

export interface RefreshRequest {
  readonly authorization: string | null;
  readonly form: Readonly<Record<string, string>>;
}

export interface FakeUpstream {
  /** Requests that reached the token endpoint. */
  readonly requests: readonly RefreshRequest[];
  readonly access_tokens: readonly string[];
  readonly refresh_tokens: readonly string[];
  readonly revoked: boolean;
  /** Starts a grant like a sign-in, with an access token that expires after this many seconds. */
  grant(expires_in_seconds: number | null): UpstreamTokens;
  revoke(): void;
  /** Sends this response to the next request; the grant does not change. */
  answerNext(answer: () => Response | Promise<Response>): void;
  /** Responds 503 until the returned function is called. */
  breakDown(): () => void;
  /** Delays responses until the returned function is called. */
  holdBack(): () => void;
  /** Changes a successful response; `refresh_token: undefined` also means that it is not rotated. */
  amendAnswers(change: Readonly<Record<string, unknown>>): void;
}

/** Makes the network reach only this upstream. */
export function fakeUpstream(): FakeUpstream {
  const requests: RefreshRequest[] = [];
  const access_tokens: string[] = [];
  const refresh_tokens: string[] = [];
  const instead: (() => Response | Promise<Response>)[] = [];
  let usable: string | null = null;
  let revoked = false;
  let broken = false;
  let change: Readonly<Record<string, unknown>> = {};
  let gate: Promise<void> = Promise.resolve();

  const issue = (): { access_token: string; refresh_token: string } => {
    const access_token = `access-${crypto.randomUUID()}`;
    const refresh_token = `refresh-${crypto.randomUUID()}`;
    access_tokens.push(access_token);
    refresh_tokens.push(refresh_token);
    return { access_token, refresh_token };
  };

  const answerRefresh = (presented: string | undefined): Response => {
    if (presented !== usable) revoked = true;
    if (revoked) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const issued = issue();
    const rotates = !("refresh_token" in change);
    if (rotates) usable = issued.refresh_token;
    return Response.json({ ...issued, token_type: "Bearer", expires_in: 3600, ...change });
  };

  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (request.url !== PROVIDER.token_endpoint) throw new TypeError(`no route to ${request.url}`);
    const bytes = new Uint8Array(await request.arrayBuffer());
    const form = Object.fromEntries(new URLSearchParams(new TextDecoder().decode(bytes)));
    requests.push({ authorization: request.headers.get("Authorization"), form });
    const { promise: out_of_time, reject } = Promise.withResolvers<never>();
    init?.signal?.addEventListener("abort", () => reject(new DOMException("late", "AbortError")));
    await Promise.race([gate, out_of_time]);
    if (broken) return new Response("busy", { status: 503 });
    const other = instead.shift();
    return other === undefined ? answerRefresh(form["refresh_token"]) : other();
  });

  return {
    requests,
    access_tokens,
    refresh_tokens,
    get revoked() {
      return revoked;
    },
    grant(expires_in_seconds) {
      const issued = issue();
      usable = issued.refresh_token;
      revoked = false;
      const expires_at_ms =
        expires_in_seconds === null ? null : Date.now() + expires_in_seconds * 1000;
      const { id: provider, issuer, client_id } = PROVIDER;
      const linked_identity = { provider, subject: "ada", issuer, client_id, linked_at_ms: 1 };
      return { ...linked_identity, scope: "profile", ...issued, expires_at_ms };
    },
    revoke: () => void (revoked = true),
    answerNext: (answer) => void instead.push(answer),
    breakDown() {
      broken = true;
      return () => void (broken = false);
    },
    holdBack() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    amendAnswers: (amended) => void (change = amended),
  };
}

/** Makes the time limit for upstreams pass immediately. */
export function shortenTimeLimit(): void {
  const start = globalThis.setTimeout;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, delay_ms?: number) =>
    start(run, delay_ms === UPSTREAM_TIMEOUT_MS ? 0 : delay_ms)) as typeof setTimeout);
}

/** Delays the next sealing until `release` is called; `hasBegun` says whether it was requested. */
export function holdBackSealing(): { hasBegun(): boolean; readonly release: () => void } {
  // A flag and not a promise, because an object must not resolve a promise of another test's object.
  let is_requested = false;
  const held = Promise.withResolvers<void>();
  const encrypt = crypto.subtle.encrypt.bind(crypto.subtle);
  vi.spyOn(crypto.subtle, "encrypt").mockImplementationOnce(async (...words) => {
    is_requested = true;
    await held.promise;
    return encrypt(...words);
  });
  return { hasBegun: () => is_requested, release: held.resolve };
}
