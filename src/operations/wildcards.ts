/**
 * Checks wildcard origins against the list of shared hosting suffixes. The list is a static file of the Worker.
 * An isolate reads it at its first wildcard, which most deployments do not have.
 */
import { errorName } from "../domain/result.ts";
import type { AllowedOrigin } from "../domain/origins.ts";
import {
  isHostingSuffix,
  readHostingSuffixes,
  type HostingSuffixes,
} from "../domain/public_suffixes.ts";

/** The pause after a failed read of the list of shared hosting suffixes. No wildcard origin counts meanwhile. */
export const HOSTING_SUFFIXES_RETRY_MS = 5_000;

/** A read of that list that takes longer has failed: it is a static file of the Worker. */
const HOSTING_SUFFIXES_TIMEOUT_MS = 2_000;

/**
 * Returns those of `origins` that are allowed. A wildcard over a shared hosting suffix is not allowed, and no
 * wildcard is while the list cannot be read. It never throws, and reads nothing without a wildcard.
 */
export type KeepOwned = (origins: readonly AllowedOrigin[]) => Promise<readonly AllowedOrigin[]>;

/** The binding serves files by path and ignores the host. */
const LIST = "https://assets/hosting_suffixes.txt";

/** The cache holds the value and not a promise, so a failure is not cached. */
export function createWildcardGuard(assets: Fetcher): KeepOwned {
  let suffixes: HostingSuffixes | null = null;
  let failed_at_ms = Number.NEGATIVE_INFINITY;
  const readList = async (): Promise<HostingSuffixes | null> => {
    if (suffixes !== null) return suffixes;
    if (Date.now() - failed_at_ms < HOSTING_SUFFIXES_RETRY_MS) return null;
    try {
      const signal = AbortSignal.timeout(HOSTING_SUFFIXES_TIMEOUT_MS);
      const response = await assets.fetch(LIST, { signal });
      if (!response.ok) throw new Error(`status ${response.status}`);
      suffixes = readHostingSuffixes(await response.text());
    } catch (error) {
      failed_at_ms = Date.now();
      console.error({ event: "hosting_suffixes_read_failed", name: errorName(error) });
    }
    return suffixes;
  };
  const logged = new Set<string>();
  const isOwned = (suffix: string, known: HostingSuffixes): boolean => {
    if (!isHostingSuffix(suffix.slice(1), known)) return true;
    if (!logged.has(suffix)) console.error({ event: "wildcard_ignored", suffix });
    logged.add(suffix);
    return false;
  };
  return async (origins) => {
    if (origins.every(({ kind }) => kind !== "subdomains")) return origins;
    const known = await readList();
    return origins.filter(
      (origin) => origin.kind !== "subdomains" || (known !== null && isOwned(origin.suffix, known)),
    );
  };
}
