/**
 * What a ledger line keeps of the request that wrote it: its place and key, enough of the request to know
 * another, and who asked. It stays there for good, since taking it out would be a written row: 94 bytes
 * with a UUID for a key, 38 more where a token asked, 4 to 5 cents a month for a million jobs.
 */
import { assertInvariant } from "../../domain/result.ts";
import { keptPart, type KeyedRequest } from "./once.ts";

/** What a line says of the request that wrote it. */
export interface LineKey {
  readonly placed_key: string;
  readonly fingerprint: string;
  readonly personal_token_id: string | null;
}

/** A key and its place in one: what a line is found by. */
export function placedKey({ place, key }: KeyedRequest): string {
  return `${place} ${key}`;
}

/** The line's `kept_key`. */
export function keyText(asked: KeyedRequest): string {
  const words = [asked.key, keptPart(asked.fingerprint), asked.personal_token_id ?? NO_TOKEN];
  assertInvariant(!words.some((word) => word.includes(" ")), "a key is one word");
  return [asked.place, ...words].join(" ");
}

/** What a line says by its `kept_key`. */
export function readKeyText(kept_key: string | null): LineKey {
  assertInvariant(kept_key !== null, "a line that was found by a key has one");
  const words = kept_key.split(" ");
  const token = words.pop() ?? NO_TOKEN;
  const fingerprint = words.pop() ?? "";
  const personal_token_id = token === NO_TOKEN ? null : token;
  return { placed_key: words.join(" "), fingerprint, personal_token_id };
}

const NO_TOKEN = "-";
