/** Calls to sign-in providers, each limited in time and size. */
import { UPSTREAM_BODY_MAX_BYTES, UPSTREAM_TIMEOUT_MS } from "../../domain/limits.ts";

/** The provider did not answer in time, or not in full, or its own servers failed. */
export class UpstreamUnreachableError extends Error {
  override readonly name = "UpstreamUnreachableError";
}

/** The provider's answer is larger than anyone needs. */
export class UpstreamBodyTooLargeError extends Error {
  override readonly name = "UpstreamBodyTooLargeError";
}

/** A request as `oauth4webapi` makes it. */
export interface UpstreamRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams | undefined;
}

/** What of an answer's headers is read. Its encoding is undone by then, so it must not be repeated. */
const KEPT_HEADERS = ["Content-Type", "WWW-Authenticate"];

/**
 * Fetches and reads the whole answer within `UPSTREAM_TIMEOUT_MS` and `UPSTREAM_BODY_MAX_BYTES`.
 * Never follows a redirect: the client's secret goes to the configured address and nowhere else.
 * @throws UpstreamUnreachableError where there is no answer in time, or the answer is a 5xx.
 * @throws UpstreamBodyTooLargeError
 */
export async function fetchUpstream(url: string, request: UpstreamRequest): Promise<Response> {
  const headers = new Headers(request.headers);
  // GitHub refuses callers without a name.
  headers.set("User-Agent", "passbook");
  const { method, body = null } = request;
  const signal = AbortSignal.timeout(UPSTREAM_TIMEOUT_MS);
  try {
    const response = await fetch(url, { method, headers, body, redirect: "manual", signal });
    if (response.status >= 500) {
      await response.body?.cancel();
      throw new UpstreamUnreachableError(`status ${response.status}`);
    }
    const bytes = await readLimited(response);
    const kept = KEPT_HEADERS.flatMap((name): [string, string][] => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    return new Response(bytes, { status: response.status, headers: kept });
  } catch (error) {
    if (error instanceof UpstreamBodyTooLargeError) throw error;
    if (error instanceof UpstreamUnreachableError) throw error;
    throw new UpstreamUnreachableError("no answer", { cause: error });
  }
}

/** The body's bytes, null where there are none. */
async function readLimited(response: Response): Promise<Uint8Array | null> {
  if (response.body === null) return null;
  const chunks: Uint8Array[] = [];
  let length_bytes = 0;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length_bytes += value.byteLength;
    if (length_bytes > UPSTREAM_BODY_MAX_BYTES) {
      await reader.cancel();
      throw new UpstreamBodyTooLargeError(`more than ${UPSTREAM_BODY_MAX_BYTES} bytes`);
    }
    chunks.push(value);
  }
  const body = new Uint8Array(length_bytes);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return length_bytes === 0 ? null : body;
}
