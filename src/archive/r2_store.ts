/** The archive in Cloudflare R2: the bucket of the binding `ARCHIVE`. */
import { DAY_MS } from "../domain/calendar.ts";
import { ARCHIVE_MAX_AGE_DAYS } from "../domain/limits.ts";
import { ARCHIVE_UNREADABLE } from "../domain/result.ts";
import type { ArchiveStore } from "./store.ts";

/** `ARCHIVE` is optional: a service without it has no second copy of the ledger, and `/readyz` says so. */
interface ArchiveBinding {
  readonly ARCHIVE?: R2Bucket;
  /** `config/settings.ts` checks it for requests. */
  readonly ARCHIVE_MAX_AGE_DAYS?: string;
}

/** How long an entry may wait for the archive, in milliseconds. */
export function archiveMaxAge({ ARCHIVE_MAX_AGE_DAYS: days }: ArchiveBinding): number {
  const { longest, usual } = ARCHIVE_MAX_AGE_DAYS;
  const given = Number(days ?? usual);
  return (given >= 1 && given <= longest ? given : usual) * DAY_MS;
}

/** The most files that one call of R2 deletes. */
const DELETED_AT_ONCE = 1_000;

/** A request that needs a file which cannot be read is 503, and may be repeated. */
async function readable<Found>(found: Promise<Found>): Promise<Found> {
  try {
    return await found;
  } catch (cause) {
    throw new Error(ARCHIVE_UNREADABLE, { cause });
  }
}

/** Null: the bucket is not bound. */
export function createArchiveStore({ ARCHIVE }: ArchiveBinding): ArchiveStore | null {
  if (ARCHIVE === undefined) return null;
  const bucket = ARCHIVE;
  const replace: ArchiveStore["replace"] = async (key, bytes, tag) => {
    // R2 decides in one step whether the key is free, or has this version.
    const stored: R2Object | null = await bucket.put(key, bytes, {
      onlyIf: tag === null ? { etagDoesNotMatch: "*" } : { etagMatches: tag },
      httpMetadata: { contentType: "application/gzip" },
    });
    return stored !== null;
  };
  return {
    replace,
    create: (key, bytes) => replace(key, bytes, null),
    async readTagged(key) {
      const found = await readable(bucket.get(key));
      if (found === null) return null;
      return { bytes: new Uint8Array(await readable(found.arrayBuffer())), tag: found.etag };
    },
    delete: (keys) => bucket.delete([...keys]),
    async read(key) {
      const found = await readable(bucket.get(key));
      return found === null ? null : new Uint8Array(await readable(found.arrayBuffer()));
    },
    async list(folder, after, limit) {
      const start = after === null ? {} : { startAfter: folder + after };
      const { objects, truncated } = await readable(
        bucket.list({ prefix: folder, limit, ...start }),
      );
      const names = objects.map(({ key }) => key.slice(folder.length));
      return { names, next: truncated ? (names.at(-1) ?? null) : null };
    },
    async deleteSome(folder) {
      const { objects, truncated } = await bucket.list({ prefix: folder, limit: DELETED_AT_ONCE });
      if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
      return !truncated;
    },
    check: () => bucket.head("readiness"),
  };
}
