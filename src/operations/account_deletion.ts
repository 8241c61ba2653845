/**
 * Deleting an account, over all stores. The account's object decides, in one transaction; what follows is
 * found by a note that is written before, and done again until it is done.
 */
import type { Refusal } from "../domain/refusals.ts";
import { errorName, type Result } from "../domain/result.ts";

/**
 * When a deletion is repeated: by then every request that was in progress when it ran has ended, also a sign-in
 * at a provider.
 */
export const DELETION_REPEAT_MS = 60 * 60 * 1000;

/** Deletions that one scheduled run finishes, at a few calls each. */
const DELETIONS_PER_RUN = 100;

/** Who does what. Each may be done again. */
export interface AccountDeletionParts {
  /** Notes of accounts about to be deleted. */
  readonly notes: {
    write(identity_id: string, asked_at_ms: number): Promise<void>;
    list(to_ms: number, limit: number): Promise<readonly string[]>;
    drop(identity_id: string, to_ms: number): Promise<void>;
  };
  /** Closes the account to everybody, for good. */
  readonly closeAccount: (identity_id: string) => Promise<Result<null, Refusal>>;
  readonly isClosed: (identity_id: string) => Promise<boolean>;
  /** What else knows the person: who signs people in, the audit log. */
  readonly forget: readonly ((identity_id: string) => Promise<unknown>)[];
}

export interface AccountDeletion {
  /**
   * Deletes an account, as its holder. Refused where the account refuses it.
   * @throws where it is not known whether it is deleted; asking again tells.
   */
  deleteAccount(identity_id: string): Promise<Result<null, Refusal>>;
  /** Does the rest for an account that says it is deleted. @throws where a store is out of reach. */
  finish(identity_id: string): Promise<void>;
  /**
   * Finishes what was cut off, and looks a second time at what was not: a sign-in or an operator's act
   * that was under way may have written something of the person after them.
   */
  finishNoted(now_ms: number): Promise<{ readonly finished_deletions: number }>;
}

/** Deletion with these parts. */
export function createAccountDeletion(parts: AccountDeletionParts): AccountDeletion {
  const { notes, closeAccount, isClosed } = parts;
  const finish = async (identity_id: string): Promise<void> => {
    for (const forget of parts.forget) await forget(identity_id);
  };
  return {
    async deleteAccount(identity_id) {
      await notes.write(identity_id, Date.now());
      const closed = await closeAccount(identity_id);
      if (!closed.ok) return closed;
      console.log({ event: "account_deleted" });
      try {
        await finish(identity_id);
      } catch (error) {
        // It is deleted all the same: the note, or the person's next touch, brings the rest.
        const reason = errorName(error);
        console.warn({ event: "account_deletion_interrupted", reason });
      }
      return closed;
    },
    finish,
    async finishNoted(now_ms) {
      const to_ms = now_ms - DELETION_REPEAT_MS;
      const noted = await notes.list(to_ms, DELETIONS_PER_RUN);
      let finished_deletions = 0;
      for (const identity_id of noted) {
        if (await isClosed(identity_id)) {
          await finish(identity_id);
          finished_deletions += 1;
        }
        await notes.drop(identity_id, to_ms);
      }
      return { finished_deletions };
    },
  };
}
