/**
 * Recovery codes: one for each person, for the day when they lost all their passkeys. Only the SHA-256 is stored. That is
 * enough for a random code of 125 bits, which nobody can guess.
 */
import { and, eq, ne } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { base64url } from "jose";
import { RECOVERY_METHOD, type Session } from "../port.ts";
import type { IdentityStore } from "./identity_queries.ts";
import { sessions, users } from "./schema.ts";

/** Digits and letters without I, L, O and U (Crockford's base 32). 256 is a multiple of 32, so no letter is likelier. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE_LENGTH = 25;
const GROUP = /.{5}(?=.)/g;
const CODE = new RegExp(`^[${ALPHABET}]{${CODE_LENGTH}}$`);

/** A new code in groups of five, and its hash. */
export async function drawRecoveryCode(): Promise<{
  readonly code: string;
  readonly hash: string;
}> {
  const drawn = crypto.getRandomValues(new Uint8Array(CODE_LENGTH));
  const code = Array.from(drawn, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
  return { code: code.replaceAll(GROUP, "$&-"), hash: await hashOf(code) };
}

/** The hash of a code as a person types it; null if it cannot be a code. */
async function readRecoveryCode(typed: string): Promise<string | null> {
  const code = typed
    .toUpperCase()
    .replaceAll(/[\s-]/g, "")
    .replaceAll("O", "0")
    .replaceAll(/[IL]/g, "1");
  return CODE.test(code) ? hashOf(code) : null;
}

/** The user of a code; null: nobody. */
export async function findByRecoveryCode(
  database: DrizzleD1Database,
  typed: string,
): Promise<string | null> {
  const hash = await readRecoveryCode(typed);
  if (hash === null) return null;
  const found = database
    .select({ id: users.id })
    .from(users)
    .where(eq(users.recovery_code_hash, hash));
  return (await found.get())?.id ?? null;
}

/** Replaces a code that was used by a new one. Null: it is nobody's code. One query, so a code is used once. */
export async function exchangeRecoveryCode(
  { database, copy }: Pick<IdentityStore, "database" | "copy">,
  typed: string,
): Promise<{ readonly user_id: string; readonly code: string } | null> {
  const used = await readRecoveryCode(typed);
  if (used === null) return null;
  const { code, hash } = await drawRecoveryCode();
  const [user] = await database
    .update(users)
    .set({ recovery_code_hash: hash, recovery_code_at_ms: Date.now() })
    .where(eq(users.recovery_code_hash, used))
    .returning({ id: users.id });
  if (user === undefined) return null;
  copy.changed(user.id);
  return { user_id: user.id, code };
}

/** Gives a session's user a new code, and ends the other sessions that were started with the former one. */
export async function replaceRecoveryCode(
  { database, copy }: Pick<IdentityStore, "database" | "copy">,
  { id: session_id, identity_id: user_id }: Session,
): Promise<{ readonly recovery_code: string; readonly ended_sessions: readonly Session[] }> {
  const { code, hash } = await drawRecoveryCode();
  // This session stays, but what it approved with the former code must end.
  const theirs = and(eq(sessions.user_id, user_id), eq(sessions.provider, RECOVERY_METHOD));
  const [, ended_sessions] = await database.batch([
    database
      .update(users)
      .set({ recovery_code_hash: hash, recovery_code_at_ms: Date.now() })
      .where(eq(users.id, user_id)),
    database
      .delete(sessions)
      .where(and(theirs, ne(sessions.id, session_id)))
      .returning({ id: sessions.id, identity_id: sessions.user_id }),
    database.update(sessions).set({ provider: null }).where(theirs),
  ]);
  copy.changed(user_id);
  return { recovery_code: code, ended_sessions };
}

async function hashOf(code: string): Promise<string> {
  const bytes = new TextEncoder().encode(`passbook recovery code 1 ${code}`);
  return base64url.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
