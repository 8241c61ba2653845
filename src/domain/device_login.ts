/**
 * The states of a device login (RFC 8628): `pending`, then `approved` or `denied` by one person, then
 * `redeemed` by the device. Expiry is not a state; it follows from the time. Pure: the caller passes the time.
 */
import type { AllowanceLimits } from "./allowance.ts";
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

/** The approver's decision: a token for their account, with these limits. */
export interface LoginGrant {
  readonly identity_id: string;
  readonly limits: AllowanceLimits;
  /** The session that approves. After it ends, the token can no longer be collected. */
  readonly session_id: string;
  /** The sign-in method of that session; null: it was unlinked since. */
  readonly signin_method: string | null;
  /**
   * When that session ends, in milliseconds since the epoch, if the token ends with it; null if the token
   * outlives it.
   */
  readonly session_ends_at_ms: number | null;
}

type LoginPhase =
  /** `opened_by`: the person who opened the page with the code; null: nobody did. */
  | { readonly name: "pending"; readonly opened_by: string | null }
  | { readonly name: "approved"; readonly grant: LoginGrant }
  | { readonly name: "denied" }
  | { readonly name: "redeemed" };

export interface LoginState {
  readonly expires_at_ms: number;
  readonly phase: LoginPhase;
}

type Step = Result<LoginState, Refusal>;

export function start(now_ms: number, ttl_seconds: number): LoginState {
  const expires_at_ms = now_ms + ttl_seconds * 1000;
  return { expires_at_ms, phase: { name: "pending", opened_by: null } };
}

/**
 * When a login is deleted, in milliseconds since the epoch. Until then its code is refused as expired or used.
 * After that its code is unknown and may be drawn again.
 */
export function forgottenAt(state: LoginState): number {
  return state.expires_at_ms + DEVICE_CODE_KEEP_MS;
}

/** Shows the login to a person. From then on only this person can decide it. Repeating it changes nothing. */
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

/** The result of a poll: pending, or the grant, which only one poll receives. */
type Collection =
  | { readonly kind: "pending" }
  | { readonly kind: "collected"; readonly grant: LoginGrant; readonly state: LoginState };

/** Collects the grant for the device, once. The login is then redeemed. */
export function collect(state: LoginState, now_ms: number): Result<Collection, Refusal> {
  const ended = whyEnded(state, now_ms);
  if (ended !== null) return refused(ended);
  if (state.phase.name !== "approved") return accepted({ kind: "pending" });
  const { grant } = state.phase;
  return accepted({ kind: "collected", grant, state: { ...state, phase: { name: "redeemed" } } });
}

/** The reason why a login has ended; null if it has not. */
function whyEnded({ phase, expires_at_ms }: LoginState, now_ms: number): Refusal | null {
  if (phase.name === "redeemed") return { code: "already_used" };
  if (phase.name === "denied") return { code: "access_denied" };
  return now_ms >= expires_at_ms ? { code: "expired_token" } : null;
}

/**
 * The reason why this person cannot decide the login; null if they can. A code that another person has opened
 * is refused like an unknown code, because a guesser must not learn that a guess was right.
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
 * A user code from random bytes, each letter equally likely; null if too few of the bytes are usable. Twice the
 * code's length is enough except once in many millions.
 */
export function userCodeFrom(random: Uint8Array): string | null {
  // 240 is the largest multiple of 20 in a byte. Larger bytes would favour the first letters.
  const fair = 256 - (256 % USER_CODE_ALPHABET.length);
  const letters = Array.from(random)
    .filter((byte) => byte < fair)
    .map((byte) => USER_CODE_ALPHABET.charAt(byte % USER_CODE_ALPHABET.length));
  return letters.length < USER_CODE_LENGTH ? null : letters.slice(0, USER_CODE_LENGTH).join("");
}

const USER_CODE = new RegExp(`^[${USER_CODE_ALPHABET}]{${USER_CODE_LENGTH}}$`);

/** The user code that a person typed, ignoring case, dashes and spaces; null if it is not one. */
export function readUserCode(text: string): string | null {
  if (text.length > USER_CODE_INPUT_MAX_LENGTH) return null;
  const code = lettersOf(text);
  return USER_CODE.test(code) ? code : null;
}

function lettersOf(text: string): string {
  return text.replaceAll(/[\p{Dash_Punctuation}\s]/gu, "").toUpperCase();
}

/**
 * Whether a person typed the rest of a user code, of which the page shows {@link beginningOf}: its last
 * letters, or all of it.
 */
export function confirmsUserCode(user_code: string, typed: string): boolean {
  if (typed.length > USER_CODE_INPUT_MAX_LENGTH) return false;
  const letters = lettersOf(typed);
  return letters === user_code || letters === user_code.slice(SHOWN_LETTERS);
}

/** The half of a user code that the page shows. The device shows the other half. */
export function beginningOf(user_code: string): string {
  return user_code.slice(0, SHOWN_LETTERS);
}

const SHOWN_LETTERS = USER_CODE_LENGTH / 2;

/** A user code as people read it: `BCDF-GHJK`. */
export function showUserCode(user_code: string): string {
  return `${beginningOf(user_code)}-${user_code.slice(SHOWN_LETTERS)}`;
}
