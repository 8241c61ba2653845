/** Whether what the service stands on answers: named checks, looked at together, remembered briefly. */
import { errorName } from "../domain/result.ts";
import { READINESS_CHECKS, type Readiness, type ReadinessCheck } from "../domain/wire.ts";

/** How long an isolate repeats the last result of `/readyz`, and how long one check may take. */
const READINESS_CACHE_MS = 5_000;
const READINESS_TIMEOUT_MS = 3_000;

/** Resolves where the thing works; a throw or a time-out is a no. */
export type Probes = Readonly<Record<ReadinessCheck, () => Promise<unknown>>>;

/**
 * A look at all of them. Anybody may ask, so an isolate looks about once in
 * {@link READINESS_CACHE_MS}; meanwhile it repeats what it knows, also while a look is under way. No
 * promise is shared: a request that is cancelled would take its waiters with it.
 */
export function createReadiness(probes: Probes): () => Promise<Readiness> {
  let known: Readiness | null = null;
  let looked_at_ms = 0;
  return async () => {
    if (known !== null && Date.now() - looked_at_ms < READINESS_CACHE_MS) return known;
    looked_at_ms = Date.now();
    const checked = await Promise.all(
      READINESS_CHECKS.map(async (name) => [name, await works(name, probes[name])] as const),
    );
    known = Object.fromEntries(checked) as Readiness;
    return known;
  };
}

async function works(check: ReadinessCheck, probe: () => Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const too_late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("timed out")), READINESS_TIMEOUT_MS);
  });
  try {
    await Promise.race([probe(), too_late]);
    return true;
  } catch (error) {
    const name = errorName(error);
    console.error({ event: "readiness_check_failed", check, name });
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** A read of D1 that touches no table's rows. */
export function askDatabase(database: D1Database): () => Promise<unknown> {
  return () => database.prepare("select name from d1_migrations order by id desc limit 1").first();
}
