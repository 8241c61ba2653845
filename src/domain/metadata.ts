/** A job's metadata: any JSON object, limited in bytes and depth. Pure. */
import { METADATA_MAX_BYTES } from "./limits.ts";
import { accepted, refused, type Result } from "./result.ts";
import type { Refusal } from "./refusals.ts";

/** How deeply metadata may nest. Beyond this, serialisers and clients may exceed their recursion limit. */
const METADATA_MAX_DEPTH = 64;

/** A JSON object. `__proto__` and `constructor` are ordinary keys. */
export type Metadata = { readonly [key: string]: unknown };

/** Whether `value` is a JSON object (not an array, not null) within the allowed depth. */
export function isMetadata(value: unknown): value is Metadata {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !isDeeperThan(value, METADATA_MAX_DEPTH);
}

/** Goes level by level and not recursively, because a caller's value may nest without limit. */
function isDeeperThan(value: object, max_depth: number): boolean {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > max_depth) return true;
    level = level.flatMap((node) =>
      Object.values(node).filter(
        (child): child is object => typeof child === "object" && child !== null,
      ),
    );
  }
  return false;
}

/**
 * Serialises metadata for storage.
 * @returns its JSON, or `metadata_too_large` if that is longer than {@link METADATA_MAX_BYTES}.
 */
export function serialiseMetadata(metadata: Metadata): Result<string, Refusal> {
  const json = JSON.stringify(metadata);
  return metadataBytes(json) > METADATA_MAX_BYTES
    ? refused({ code: "metadata_too_large", limit_bytes: METADATA_MAX_BYTES })
    : accepted(json);
}

/** The bytes of stored metadata; 0 for null. */
export function metadataBytes(metadata_json: string | null): number {
  return metadata_json === null ? 0 : new TextEncoder().encode(metadata_json).byteLength;
}

/**
 * Merges shallowly; new keys win. Object spread defines properties instead of assigning them, so a `__proto__`
 * key stays an ordinary key.
 */
export function mergeMetadata(existing: Metadata | null, added: Metadata): Metadata {
  return { ...existing, ...added };
}
