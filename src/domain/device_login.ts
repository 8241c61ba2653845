/**
 * The life of a device login (RFC 8628): `pending`, then `approved` or `denied` by one person, then
 * `redeemed` by the device. Expiry is not a state but a moment. Pure: the moment is always given.
 */
import type { PersonalTokenLimits } from "./personal_token.ts";
import type { Refusal } from "./refusals.ts";
import { accepted, refused, type Result } from "./result.ts";

/**
 * A user code has 8 of 20 letters (RFC 8628). These are 25,600,000,000 codes: too many to guess within
 * `rate_limits.ts`, and short enough to type. Without vowels, no code spells a word (RFC 8628, section 6.1).
 */
export const USER_CODE_LENGTH = 8;
export const USER_CODE_ALPHABET = "BCDFGHJKLMNPQRSTVWXZ";

/** Longest text read as a user code, in characters: people add dashes and spaces. */
export const USER_CODE_INPUT_MAX_LENGTH = 64;

/** For this long after its expiry a code is refused as expired; after that it is unknown. */
export const DEVICE_CODE_KEEP_MS = 24 * 60 * 60 * 1000;

/** What the approver allows: whose account the token opens, within which limits, and how long. */
export interface LoginGrant {
  readonly identity_id: string;
  readonly limits: PersonalTokenLimits;
  /** The session that approves: what is not collected when it ends is collected no more. */
  readonly session_id: string;
  /** The method by which that session signed in; null: one that was unlinked since. */
  readonly signin_method: string | null;
  /**
   * When that session ends by itself, where the token is to end with it; null where the token outlives
   * it. In milliseconds since the epoch.
   */
  readonly session_ends_at_ms: number | null;
}

export type LoginPhase =
  /** `opened_by`: the person whose screen shows the code; null while nobody's does. */
  | { readonly name: "pending"; readonly opened_by: string | null }
  | { readonly name: "approved"; readonly grant: LoginGrant }
  | { readonly name: "denied" }
  | { readonly name: "redeemed" };

export interface LoginState {
  readonly expires_at_ms: number;
  readonly phase: LoginPhase;
}

type Step = Result<LoginState, Refusal>;

/** A login that has just been started. */
export function start(now_ms: number, ttl_seconds: number): LoginState {
  const expires_at_ms = now_ms + ttl_seconds * 1000;
  return { expires_at_ms, phase: { name: "pending", opened_by: null } };
}

/**
 * When a login is forgotten, in milliseconds since the epoch. From then on its code is unknown and may
 * be drawn again; before, it is told from one that never was.
 */
export function forgottenAt(state: LoginState): number {
  return state.expires_at_ms + DEVICE_CODE_KEEP_MS;
}

/** Shows the login to a person. From then on nobody else can decide it. Again, it changes nothing. */
export function open(state: LoginState, identity_id: string, now_ms: number): Step {
  const refusal = whyUndecidable(state, identity_id, now_ms);
  if (refusal !== null) return refused(refusal);
  const opened = state.phase.name === "pending" && state.phase.opened_by === identity_id;
  if (opened) return accepted(state);
  return accepted({ ...state, phase: { name: "pending", opened_by: identity_id } });
}

/** Approves the login: the device may collect a token for the approver's account. */
export function approve(state: LoginState, grant: LoginGrant, now_ms: number): Step {
  const refusal = whyUndecidable(state, grant.identity_id, now_ms);
  if (refusal !== null) return refused(refusal);
  return accepted({ ...state, phase: { name: "approved", grant } });
}

/** Denies the login for good. */
export function deny(state: LoginState, identity_id: string, now_ms: number): Step {
  const refusal = whyUndecidable(state, identity_id, now_ms);
  if (refusal !== null) return refused(refusal);
  return accepted({ ...state, phase: { name: "denied" } });
}

/** What a poll of the device finds: nothing yet, or the grant, which it takes with it. */
export type Collection =
  | { readonly kind: "pending" }
  | { readonly kind: "collected"; readonly grant: LoginGrant; readonly state: LoginState };

/** The device asks for its token. It gets the grant once; the login is redeemed with that. */
export function collect(state: LoginState, now_ms: number): Result<Collection, Refusal> {
  const ended = whyEnded(state, now_ms);
  if (ended !== null) return refused(ended);
  if (state.phase.name !== "approved") return accepted({ kind: "pending" });
  const { grant } = state.phase;
  return accepted({ kind: "collected", grant, state: { ...state, phase: { name: "redeemed" } } });
}

/** Why nothing can come of a login any more; null while something can. */
function whyEnded({ phase, expires_at_ms }: LoginState, now_ms: number): Refusal | null {
  if (phase.name === "redeemed") return { code: "already_used" };
  if (phase.name === "denied") return { code: "access_denied" };
  return now_ms >= expires_at_ms ? { code: "expired_token" } : null;
}

/**
 * Why this person cannot decide the login; null where they can. A code that another person has opened
 * looks like an unknown one: to learn that a guess was right is what a guesser is after.
 */
function whyUndecidable(state: LoginState, identity_id: string, now_ms: number): Refusal | null {
  const ended = whyEnded(state, now_ms);
  if (ended !== null) return ended;
  if (state.phase.name !== "pending") return { code: "already_used" };
  const { opened_by } = state.phase;
  const foreign = opened_by !== null && opened_by !== identity_id;
  return foreign ? { code: "user_code_invalid" } : null;
}

/**
 * A user code from random bytes, each letter equally likely; null where too few of them can be used.
 * Twice the code's length suffices all but once in many millions.
 */
export function userCodeFrom(random: Uint8Array): string | null {
  // 240 is the largest multiple of 20 in a byte: larger bytes would favour the first letters.
  const fair = 256 - (256 % USER_CODE_ALPHABET.length);
  const letters = Array.from(random)
    .filter((byte) => byte < fair)
    .map((byte) => USER_CODE_ALPHABET.charAt(byte % USER_CODE_ALPHABET.length));
  return letters.length < USER_CODE_LENGTH ? null : letters.slice(0, USER_CODE_LENGTH).join("");
}

const USER_CODE = new RegExp(`^[${USER_CODE_ALPHABET}]{${USER_CODE_LENGTH}}$`);

/** The user code that a person typed: case, dashes and blanks do not matter. Null where it is none. */
export function readUserCode(text: string): string | null {
  if (text.length > USER_CODE_INPUT_MAX_LENGTH) return null;
  const code = lettersOf(text);
  return USER_CODE.test(code) ? code : null;
}

function lettersOf(text: string): string {
  return text.replaceAll(/[\p{Dash_Punctuation}\s]/gu, "").toUpperCase();
}

/**
 * Whether someone typed what their device shows beyond {@link beginningOf} a user code: its last
 * letters, or all of it.
 */
export function confirmsUserCode(user_code: string, typed: string): boolean {
  if (typed.length > USER_CODE_INPUT_MAX_LENGTH) return false;
  const letters = lettersOf(typed);
  return letters === user_code || letters === user_code.slice(SHOWN_LETTERS);
}

/** The half of a user code that the page shows; the other is for the device to show. */
export function beginningOf(user_code: string): string {
  return user_code.slice(0, SHOWN_LETTERS);
}

const SHOWN_LETTERS = USER_CODE_LENGTH / 2;

/** A user code as people read it: `BCDF-GHJK`. */
export function showUserCode(user_code: string): string {
  return `${beginningOf(user_code)}-${user_code.slice(SHOWN_LETTERS)}`;
}
