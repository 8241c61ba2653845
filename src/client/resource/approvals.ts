/**
 * Approvals that a person was asked for, so that their next request for the same work presents them. In memory: a server
 * of several processes passes `approval` itself.
 */
import { isPassbookError } from "../errors.ts";

/** The service accepts an approval for this long after it was offered. */
const APPROVAL_MS = 15 * 60_000;

interface Offered {
  readonly approval: string;
  readonly expires_ms: number;
}

export interface Approvals {
  /**
   * Calls `create` with the approval that the last refusal of this work offered, if it may still be used. One that has ended is
   * forgotten, and `create` is called without it.
   */
  present<Result>(
    work: string,
    create: (approval: string | undefined) => Promise<Result>,
  ): Promise<Result>;
}

export function createApprovals(): Approvals {
  const offers = new Map<string, Offered>();
  const approvalOf = (work: string): string | undefined => {
    const now_ms = Date.now();
    for (const [key, { expires_ms }] of offers) if (expires_ms <= now_ms) offers.delete(key);
    return offers.get(work)?.approval;
  };
  const attempt = async <Result>(
    work: string,
    approval: string | undefined,
    create: (approval: string | undefined) => Promise<Result>,
  ): Promise<Result> => {
    try {
      const result = await create(approval);
      offers.delete(work);
      return result;
    } catch (error) {
      offers.delete(work);
      const offered = isPassbookError(error, "token_budget_exceeded")
        ? error.body["approval"]
        : null;
      if (typeof offered === "string") {
        offers.set(work, { approval: offered, expires_ms: Date.now() + APPROVAL_MS });
      }
      throw error;
    }
  };
  return {
    async present(work, create) {
      const approval = approvalOf(work);
      try {
        return await attempt(work, approval, create);
      } catch (error) {
        const is_over = ENDED.some((code) => isPassbookError(error, code));
        if (approval === undefined || !is_over) throw error;
        return attempt(work, undefined, create);
      }
    },
  };
}

const ENDED = ["approval_ended", "approval_invalid"] as const;
