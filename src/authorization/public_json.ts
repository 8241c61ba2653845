/** JSON documents of other people's servers, fetched within strict limits and copied to KV. */
import { waitUntil } from "cloudflare:workers";
import {
  CLIENT_DOCUMENT_TIMEOUT_MS,
  copySeconds,
  documentFailure,
  responseProblem,
} from "../domain/client_document.ts";
import { accepted, errorName, refused, type Result } from "../domain/result.ts";
import { requestUpstream, UpstreamFailure } from "../oauth/ask.ts";

/** Counts a fetch of an address that may fail. False: too many, so it does not happen. */
export type CountFetch = () => Promise<boolean>;

/**
 * `unusable`: with the reasons for its developer. Our responses have them only in development, so that they reveal nothing
 * about addresses in our network.
 */
type JsonDocument =
  | { readonly kind: "copy" | "fetched"; readonly value: unknown }
  | { readonly kind: "unusable"; readonly problems: readonly string[] }
  | { readonly kind: "limited" };

export interface Wanted {
  readonly max_bytes: number;
  /** What is wrong with a document; empty: nothing. */
  readonly problemsOf: (value: unknown) => readonly string[];
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

interface PublicJsonOptions {
  readonly copies: KVNamespace;
  /** False in development: a developer changes a document and tries again at once. */
  readonly keeps_copies: boolean;
}

/** A copy is only a hint that saves a fetch: everything works, only slower, without it. */
export function createPublicJson({ copies, keeps_copies }: PublicJsonOptions): PublicJson {
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
      const copy = keeps_copies ? await recall(url) : null;
      const last = copy !== null && wanted.problemsOf(copy.value).length === 0 ? copy : null;
      if (last !== null && !wanted.fresh && last.fresh_until_ms > Date.now()) {
        return { kind: "copy", value: last.value };
      }
      const is_good = outcomes.get(url) ?? last !== null;
      if ((wanted.fresh || !is_good) && !(await count())) {
        return last === null ? { kind: "limited" } : { kind: "copy", value: last.value };
      }
      const fetched = await fetchJson(url, wanted);
      noteOutcome(url, fetched.ok);
      if (!fetched.ok) return { kind: "unusable", problems: fetched.refusal };
      if (keeps_copies) waitUntil(keep(url, fetched.value));
      return { kind: "fetched", value: fetched.value.value };
    },
  };
}

async function fetchJson(
  url: string,
  { max_bytes, problemsOf }: Wanted,
): Promise<Result<Copy, readonly string[]>> {
  try {
    const limits = { max_bytes, timeout_ms: CLIENT_DOCUMENT_TIMEOUT_MS };
    const headers = { Accept: "application/json" };
    const response = await requestUpstream(url, { headers }, limits);
    const problem = responseProblem(response.status, response.headers.get("Content-Type"));
    if (problem !== null) return refused([problem]);
    const value: unknown = JSON.parse(response.text);
    const problems = problemsOf(value);
    if (problems.length > 0) return refused(problems);
    const seconds = copySeconds(response.headers.get("Cache-Control"));
    return accepted({ value, fresh_until_ms: Date.now() + seconds * 1000 });
  } catch (error) {
    if (error instanceof SyntaxError) return refused([documentFailure("not_json", max_bytes)]);
    const problem = error instanceof UpstreamFailure ? error.problem : "network";
    return refused([documentFailure(problem, max_bytes)]);
  }
}
