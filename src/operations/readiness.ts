/** Readiness: named checks of stores and keys, run together and cached briefly. */
import { reportError } from "../domain/error_report.ts";
import { READINESS_CHECKS, type Readiness, type ReadinessCheck } from "../domain/wire.ts";
import { withinMs } from "./time_limit.ts";

/** How long an isolate repeats the last result of `/readyz`, and how long one check may take. */
const READINESS_CACHE_MS = 5_000;
const READINESS_TIMEOUT_MS = 3_000;

/** Checks that take longer were stopped, because the platform stops the work of a cancelled request. */
const READINESS_LOST_MS = READINESS_TIMEOUT_MS + 1_000;

/** How often a request looks whether the checks of another request have ended. */
const READINESS_POLL_MS = 50;

/** Resolves if the check succeeds. A rejection or time-out is a failure. */
type Probes = Readonly<Record<ReadinessCheck, () => Promise<unknown>>>;

/**
 * Runs all checks. Any caller may request this, so an isolate runs them about once in {@link READINESS_CACHE_MS}. Other
 * requests wait for the result. They share no promise: a cancelled request would cancel its waiters.
 */
export function createReadiness(probes: Probes): () => Promise<Readiness> {
  let known: { readonly checks: Readiness; readonly at_ms: number } | null = null;
  let began_at_ms = Number.NEGATIVE_INFINITY;
  const check = async (): Promise<Readiness> => {
    began_at_ms = Date.now();
    const checked = await Promise.all(
      READINESS_CHECKS.map(async (name) => [name, await works(name, probes[name])] as const),
    );
    const checks = Object.fromEntries(checked) as Readiness;
    known = { checks, at_ms: Date.now() };
    return checks;
  };
  return async () => {
    for (;;) {
      if (known !== null && Date.now() - known.at_ms < READINESS_CACHE_MS) return known.checks;
      if (Date.now() - began_at_ms >= READINESS_LOST_MS) return check();
      await new Promise((resolve) => {
        setTimeout(resolve, READINESS_POLL_MS);
      });
    }
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

/** @throws Error if the archive does not respond, or the service has none */
export async function checkArchive(
  archive: { check(): Promise<unknown> } | null,
): Promise<unknown> {
  if (archive === null) throw new Error("the bucket ARCHIVE is not bound");
  return archive.check();
}

/** A query of D1 that reads no table of ours. */
export function checkDatabase(database: D1Database): () => Promise<unknown> {
  return () => database.prepare("select name from d1_migrations order by id desc limit 1").first();
}
