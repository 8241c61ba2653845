/** JSON documents of other people's servers, fetched within strict limits and copied to KV. */
import { waitUntil } from "cloudflare:workers";
import { CLIENT_DOCUMENT_TIMEOUT_MS, copySeconds, isJsonType } from "../domain/client_document.ts";
import { errorName } from "../domain/result.ts";
import { requestUpstream } from "../oauth/ask.ts";

/** Counts a fetch of an address that may fail. False: too many, so it does not happen. */
export type CountFetch = () => Promise<boolean>;

/** `unusable`: for every reason, so that our responses reveal nothing about addresses in our network. */
type JsonDocument =
  | { readonly kind: "copy" | "fetched"; readonly value: unknown }
  | { readonly kind: "unusable" | "limited" };

export interface Wanted {
  readonly max_bytes: number;
  readonly isValid: (value: unknown) => boolean;
  /** Whether a copy does not suffice, because it may be outdated. */
  readonly fresh: boolean;
}

export interface PublicJson {
  /**
   * The document at an address: its copy, or a new one. A fetch is counted unless the address gave a valid document lately, so
   * that failures never block a client that works. If it is not allowed, the last valid copy serves, however old. It never
   * throws.
   */
  read(url: string, wanted: Wanted, count: CountFetch): Promise<JsonDocument>;
}

interface Copy {
  readonly value: unknown;
  readonly fresh_until_ms: number;
}

/** How long the last valid document is kept, for requests that may fetch nothing. */
const LAST_COPY_SECONDS = 7 * 24 * 60 * 60;

/** Addresses whose last outcome one isolate remembers. A full memory is emptied. */
const OUTCOMES_MAX = 1_000;

/** A copy is only a hint that saves a fetch: everything works, only slower, without it. */
export function createPublicJson(copies: KVNamespace): PublicJson {
  /** Whether the last fetch of an address gave a valid document: KV shows a new copy only after up to a minute. */
  const outcomes = new Map<string, boolean>();
  const noteOutcome = (url: string, was_valid: boolean): void => {
    if (outcomes.size >= OUTCOMES_MAX) outcomes.clear();
    outcomes.set(url, was_valid);
  };
  const keep = async (url: string, copy: Copy): Promise<void> => {
    try {
      await copies.put(url, JSON.stringify(copy), { expirationTtl: LAST_COPY_SECONDS });
    } catch (error) {
      console.warn({ event: "client_document_copy_write_failed", reason: errorName(error) });
    }
  };
  const recall = async (url: string): Promise<Copy | null> => {
    try {
      return await copies.get<Copy>(url, "json");
    } catch (error) {
      console.warn({ event: "client_document_copy_read_failed", reason: errorName(error) });
      return null;
    }
  };
  return {
    async read(url, wanted, count) {
      const copy = await recall(url);
      const last = copy !== null && wanted.isValid(copy.value) ? copy : null;
      if (last !== null && !wanted.fresh && last.fresh_until_ms > Date.now()) {
        return { kind: "copy", value: last.value };
      }
      const is_good = outcomes.get(url) ?? last !== null;
      if ((wanted.fresh || !is_good) && !(await count())) {
        return last === null ? { kind: "limited" } : { kind: "copy", value: last.value };
      }
      const fetched = await fetchJson(url, wanted);
      noteOutcome(url, fetched !== null);
      if (fetched === null) return { kind: "unusable" };
      waitUntil(keep(url, fetched));
      return { kind: "fetched", value: fetched.value };
    },
  };
}

async function fetchJson(url: string, { max_bytes, isValid }: Wanted): Promise<Copy | null> {
  try {
    const limits = { max_bytes, timeout_ms: CLIENT_DOCUMENT_TIMEOUT_MS };
    const headers = { Accept: "application/json" };
    const response = await requestUpstream(url, { headers }, limits);
    // A redirect has another status.
    if (response.status !== 200 || !isJsonType(response.headers.get("Content-Type"))) return null;
    const value: unknown = JSON.parse(response.text);
    if (!isValid(value)) return null;
    const seconds = copySeconds(response.headers.get("Cache-Control"));
    return { value, fresh_until_ms: Date.now() + seconds * 1000 };
  } catch {
    return null;
  }
}
