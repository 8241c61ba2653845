/**
 * Deletes an account in all stores. The account's object decides in one transaction. A record written before
 * lets the schedule repeat the remaining steps until they succeed.
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

/** Each may be repeated. */
interface AccountDeletionParts {
  /** Records of requested deletions. */
  readonly records: {
    write(identity_id: string, requested_at_ms: number): Promise<void>;
    list(to_ms: number, limit: number): Promise<readonly string[]>;
    drop(identity_id: string, to_ms: number): Promise<void>;
    has(identity_id: string): Promise<boolean>;
  };
  /** Closes the account for good. */
  readonly closeAccount: (identity_id: string, by: Deleter) => Promise<Result<null, Refusal>>;
  readonly isClosed: (identity_id: string) => Promise<boolean>;
  /** Deletes the person elsewhere: in the identity adapter and the audit log. */
  readonly forget: readonly ((identity_id: string) => Promise<unknown>)[];
}

/** The person who deletes an account. Only an operator can delete a suspended one. */
type Deleter = "holder" | "operator";

export function createAccountDeletion(parts: AccountDeletionParts) {
  const { records, closeAccount, isClosed } = parts;
  const finish = async (identity_id: string): Promise<void> => {
    for (const forget of parts.forget) await forget(identity_id);
  };
  return {
    /**
     * Deletes an account. Refused if the account refuses it.
     * @throws if it is unknown whether it was deleted; the caller may repeat it.
     */
    async deleteAccount(identity_id: string, by: Deleter): Promise<Result<null, Refusal>> {
      await records.write(identity_id, Date.now());
      const closed = await closeAccount(identity_id, by);
      if (!closed.ok) return closed;
      console.log({ event: "account_deleted" });
      try {
        await finish(identity_id);
      } catch (error) {
        // The account is deleted. The schedule or the person's next request completes the rest.
        const reason = errorName(error);
        console.warn({ event: "account_deletion_interrupted", reason });
      }
      return closed;
    },
    /** Whether a deletion was requested in about the last hour. Only the account knows whether it was done. */
    isRecorded: (identity_id: string): Promise<boolean> => records.has(identity_id),
    /**
     * Completes the deletion of a closed account.
     * @throws if a store is unavailable.
     */
    finish,
    /**
     * Completes interrupted deletions, and repeats completed ones, because a sign-in or operator action that was
     * in progress may have written data of the person afterwards.
     */
    async finishRecorded(now_ms: number): Promise<{ readonly finished_deletions: number }> {
      const to_ms = now_ms - DELETION_REPEAT_MS;
      const recorded = await records.list(to_ms, DELETIONS_PER_RUN);
      let finished_deletions = 0;
      for (const identity_id of recorded) {
        if (await isClosed(identity_id)) {
          await finish(identity_id);
          finished_deletions += 1;
        }
        await records.drop(identity_id, to_ms);
      }
      return { finished_deletions };
    },
  };
}

export type AccountDeletion = ReturnType<typeof createAccountDeletion>;
