/** Readiness: named checks of stores and keys, run together and cached briefly. */
import { reportError } from "../domain/error_report.ts";
import { READINESS_CHECKS, type Readiness, type ReadinessCheck } from "../domain/wire.ts";
import { withinMs } from "./time_limit.ts";

/** How long an isolate repeats the last result of `/readyz`, and how long one check may take. */
const READINESS_CACHE_MS = 5_000;
const READINESS_TIMEOUT_MS = 3_000;

/** Resolves if the check succeeds. A rejection or time-out is a failure. */
export type Probes = Readonly<Record<ReadinessCheck, () => Promise<unknown>>>;

/**
 * Runs all checks. Any caller may request this, so an isolate runs them about once in {@link
 * READINESS_CACHE_MS} and repeats the result meanwhile, also while checks are running. It shares no promise: a
 * cancelled request would cancel its waiters.
 */
export function createReadiness(probes: Probes): () => Promise<Readiness> {
  let known: Readiness | null = null;
  let checked_at_ms = 0;
  return async () => {
    if (known !== null && Date.now() - checked_at_ms < READINESS_CACHE_MS) return known;
    checked_at_ms = Date.now();
    const checked = await Promise.all(
      READINESS_CHECKS.map(async (name) => [name, await works(name, probes[name])] as const),
    );
    known = Object.fromEntries(checked) as Readiness;
    return known;
  };
}

async function works(check: ReadinessCheck, probe: () => Promise<unknown>): Promise<boolean> {
  try {
    await withinMs(READINESS_TIMEOUT_MS, probe());
    return true;
  } catch (error) {
    console.error({ event: "readiness_check_failed", check, ...reportError(error) });
    return false;
  }
}

/** A query of D1 that reads no table of ours. */
export function checkDatabase(database: D1Database): () => Promise<unknown> {
  return () => database.prepare("select name from d1_migrations order by id desc limit 1").first();
}
