/** Whether a deployed release works: what `/readyz` of that release responds. */
import { RELEASE_HEADER } from "../domain/wire.ts";

export type Verdict =
  | { readonly kind: "ready"; readonly warnings: readonly string[] }
  /** Passbook responded, and it is not ready. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Passbook did not respond: no address yet, or something in front of it responded. */
  | { readonly kind: "absent"; readonly last_response: string }
  /** Only another release responded; null: it does not name itself. */
  | { readonly kind: "other"; readonly release: string | null };

const TRIES = 20;
const PAUSE_MS = 3_000;
/** A verdict needs this many equal responses, 9 seconds: a short outage of a store must not take back a good release. */
const EQUAL_RESPONSES = 4;
const TIMEOUT_MS = 10_000;

/**
 * Polls `/readyz` until four responses of `release` agree. Cloudflare takes some seconds to send a version to all
 * locations, so responses of other releases count for nothing. After a rollback, refusals may be waited out.
 */
export async function waitForVerdict(
  base_url: string,
  release: string,
  refusals_allowed: number = EQUAL_RESPONSES,
  headers: Readonly<Record<string, string>> = {},
): Promise<Verdict> {
  let [successes, refusals] = [0, 0];
  let last: Verdict = { kind: "absent", last_response: "no response" };
  let refusal: Verdict | null = null;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    if (attempt > 0) await pause(PAUSE_MS);
    last = await readReadiness(base_url, release, headers);
    if (last.kind === "ready") {
      [successes, refusals] = [successes + 1, 0];
      if (successes === EQUAL_RESPONSES) return last;
    }
    if (last.kind === "refused") {
      [successes, refusals] = [0, refusals + 1];
      refusal = last;
      if (refusals === refusals_allowed) return last;
    }
  }
  return refusal ?? last;
}

/** One request to `/readyz`. */
async function readReadiness(
  base_url: string,
  release: string,
  sent_headers: Readonly<Record<string, string>>,
): Promise<Verdict> {
  const response = await fetch(new URL("/readyz", base_url), {
    headers: sent_headers,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: "manual",
  }).catch(() => null);
  if (response === null) return { kind: "absent", last_response: "no response" };
  const { status, headers } = response;
  const failing = await failingChecks(response);
  const is_passbook = headers.has("Passbook-Request-Id");
  const sender = headers.get(RELEASE_HEADER);
  if (is_passbook && sender !== release) return { kind: "other", release: sender };
  if (response.ok && is_passbook) return { kind: "ready", warnings: failing };
  // A Worker that cannot start has Cloudflare's own page with a status from 500 on. Statuses from 520 on are about the way to it.
  if (is_passbook || (status >= 500 && status < 520)) {
    const reason = failing.length === 0 ? `status ${status}` : failing.join(", ");
    return { kind: "refused", reason };
  }
  return { kind: "absent", last_response: `status ${status}, not from Passbook` };
}

/** The names of the checks that failed, if the response has any. */
async function failingChecks(response: Response): Promise<readonly string[]> {
  const body: unknown = await response.json().catch(() => null);
  const checks = (body as { checks?: Record<string, unknown> } | null)?.checks ?? {};
  return Object.keys(checks).filter((name) => checks[name] !== true);
}

function pause(duration_ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, duration_ms);
  });
}
