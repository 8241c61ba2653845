/** Requests to other servers, limited in time and size. */
import { UPSTREAM_BODY_MAX_BYTES, UPSTREAM_TIMEOUT_MS } from "../domain/limits.ts";

/** A complete response of another server. Redirects are returned like any response. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Other limits of a request than those of `domain/limits.ts`. */
interface RequestLimits {
  readonly max_bytes?: number;
  readonly timeout_ms?: number;
}

/** Why there is no usable response. */
type UpstreamProblem = "timeout" | "network" | "server_error" | "too_large" | "not_utf8";

/** Thrown if a server gave no usable response; `status` is null if it sent none. */
export class UpstreamFailure extends Error {
  readonly problem: UpstreamProblem;
  readonly status: number | null;

  constructor(problem: UpstreamProblem, status: number | null) {
    super(`upstream: ${problem}`);
    this.name = "UpstreamFailure";
    this.problem = problem;
    this.status = status;
  }
}

/**
 * Sends one request and reads the whole response. Redirects are not followed, because the request has a
 * credential that is only for this host.
 * @throws UpstreamFailure on a time-out, a broken connection, or a response that is too large or not UTF-8.
 */
export async function requestUpstream(
  url: string,
  init: RequestInit,
  { max_bytes = UPSTREAM_BODY_MAX_BYTES, timeout_ms = UPSTREAM_TIMEOUT_MS }: RequestLimits = {},
): Promise<UpstreamResponse> {
  const headers = new Headers(init.headers);
  // GitHub refuses requests without a user agent.
  headers.set("User-Agent", "passbook");
  const limit = new AbortController();
  // Not AbortSignal.timeout(): its timer continues after the response and keeps a Durable Object from
  // hibernating.
  const timer = setTimeout(() => limit.abort(), timeout_ms);
  let status: number | null = null;
  try {
    const response = await fetch(url, {
      ...init,
      headers,
      redirect: "manual",
      signal: limit.signal,
    });
    status = response.status;
    const bytes = await readLimited(response, limit.signal, max_bytes);
    return { status, headers: response.headers, text: decode(bytes, status) };
  } catch (error) {
    if (error instanceof UpstreamFailure) throw error;
    throw new UpstreamFailure(limit.signal.aborted ? "timeout" : "network", status);
  } finally {
    clearTimeout(timer);
  }
}

async function readLimited(
  response: Response,
  signal: AbortSignal,
  max_bytes: number,
): Promise<Uint8Array> {
  if (response.body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body.getReader();
  // The time limit includes the body, also if it arrives byte by byte.
  const out_of_time = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new UpstreamFailure("timeout", response.status)));
  });
  for (;;) {
    const { done, value } = await Promise.race([reader.read(), out_of_time]);
    if (done) break;
    chunks.push(value);
    length += value.byteLength;
    if (length > max_bytes) {
      void reader.cancel().catch(() => undefined);
      throw new UpstreamFailure("too_large", response.status);
    }
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

function decode(bytes: Uint8Array, status: number): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new UpstreamFailure("not_utf8", status);
  }
}
