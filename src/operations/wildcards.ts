/**
 * Wildcards held to the list of names that strangers get. The list is a file beside the Worker's script,
 * read by an isolate at its first wildcard, which most services never have.
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
 * Those of `origins` that count. A wildcard over names that strangers can get does not, and none does
 * while the list cannot be read. It never throws, and without a wildcard it reads nothing.
 */
export type KeepOwned = (origins: readonly AllowedOrigin[]) => Promise<readonly AllowedOrigin[]>;

/** The binding serves files by their paths; the host is not looked at. */
const LIST = "https://assets/hosting_suffixes.txt";

/** Wildcards held to the list among the static files. Its value is kept, never a promise of it. */
export function createWildcardGuard(assets: Fetcher): KeepOwned {
  let suffixes: HostingSuffixes | null = null;
  let failed_at_ms = Number.NEGATIVE_INFINITY;
  const readList = async (): Promise<HostingSuffixes | null> => {
    if (suffixes !== null) return suffixes;
    if (Date.now() - failed_at_ms < HOSTING_SUFFIXES_RETRY_MS) return null;
    try {
      const signal = AbortSignal.timeout(HOSTING_SUFFIXES_TIMEOUT_MS);
      const answer = await assets.fetch(LIST, { signal });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
      suffixes = readHostingSuffixes(await answer.text());
    } catch (error) {
      failed_at_ms = Date.now();
      console.error({ event: "hosting_suffixes_read_failed", name: errorName(error) });
    }
    return suffixes;
  };
  const told = new Set<string>();
  const isOwned = (suffix: string, known: HostingSuffixes): boolean => {
    if (!isHostingSuffix(suffix.slice(1), known)) return true;
    if (!told.has(suffix)) console.error({ event: "wildcard_ignored", suffix });
    told.add(suffix);
    return false;
  };
  return async (origins) => {
    if (origins.every(({ kind }) => kind === "exact")) return origins;
    const known = await readList();
    return origins.filter(
      (origin) => origin.kind === "exact" || (known !== null && isOwned(origin.suffix, known)),
    );
  };
}
