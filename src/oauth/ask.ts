/** Requests to servers that are not ours, within limits of time and size. */
import { UPSTREAM_BODY_MAX_BYTES, UPSTREAM_TIMEOUT_MS } from "../domain/limits.ts";

/** What an upstream answered, read to its end. A redirect is an answer like any other. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly text: string;
}

/** Why there is no answer to use. */
export type UpstreamProblem = "timeout" | "network" | "server_error" | "too_large" | "not_utf8";

/** Thrown where an upstream gave no answer to use; `status` is null where not even that came. */
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
 * Sends one request and reads the whole answer. Redirects are not followed: the request carries a
 * credential that was meant for this host alone.
 * @throws UpstreamFailure on a time-out, a broken connection, or an answer too large or not UTF-8.
 */
export async function askUpstream(url: string, init: RequestInit): Promise<UpstreamAnswer> {
  const headers = new Headers(init.headers);
  // GitHub refuses callers without a name.
  headers.set("User-Agent", "passbook");
  const limit = new AbortController();
  // Not AbortSignal.timeout(): its timer runs on after the answer and keeps an object from its rest.
  const timer = setTimeout(() => limit.abort(), UPSTREAM_TIMEOUT_MS);
  let status: number | null = null;
  try {
    const response = await fetch(url, {
      ...init,
      headers,
      redirect: "manual",
      signal: limit.signal,
    });
    status = response.status;
    return { status, text: decode(await readLimited(response, limit.signal), status) };
  } catch (error) {
    if (error instanceof UpstreamFailure) throw error;
    throw new UpstreamFailure(limit.signal.aborted ? "timeout" : "network", status);
  } finally {
    clearTimeout(timer);
  }
}

async function readLimited(response: Response, signal: AbortSignal): Promise<Uint8Array> {
  if (response.body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body.getReader();
  // The time limit is for the body too, also where it comes a byte at a time.
  const out_of_time = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new UpstreamFailure("timeout", response.status)));
  });
  for (;;) {
    const { done, value } = await Promise.race([reader.read(), out_of_time]);
    if (done) break;
    chunks.push(value);
    length += value.byteLength;
    if (length > UPSTREAM_BODY_MAX_BYTES) {
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
