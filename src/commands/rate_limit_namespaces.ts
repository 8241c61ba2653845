/**
 * The namespaces of a deployed Worker's rate limits. Limiters with the same namespace share one counter, across all
 * Workers of an account. The ids are derived from the Worker's name, so that a staging Worker has its own counters.
 */
import { createHash } from "node:crypto";
import type { WorkerConfig } from "./wrangler_config.ts";

type RateLimits = NonNullable<WorkerConfig["ratelimits"]>;

/** Cloudflare accepts a positive integer. 31 bits fit every integer type; two of 100 limiters meet once in 400,000 accounts. */
const NAMESPACES = 2 ** 31 - 1;

export function withOwnNamespaces(worker: string, ratelimits: RateLimits): RateLimits {
  return ratelimits.map((limiter) => ({
    ...limiter,
    namespace_id: namespaceOf(worker, limiter.name),
  }));
}

function namespaceOf(worker: string, limiter: string): string {
  const hash = createHash("sha256").update(`${worker} ${limiter}`).digest();
  return String(1 + (hash.readUInt32BE() % NAMESPACES));
}
