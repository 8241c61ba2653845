/** Waits for an automatic top-up that a 402 announced. */
import { isPassbookError, type PassbookError } from "./errors.ts";
import type { Wait } from "./transport.ts";

/** How long it is waited for in all, and the pause between two looks at the balance. */
const WAIT_MS = 60_000;
const PAUSE_MS = 2_000;

export interface TopUpWaiting {
  readonly wait: Wait;
  /** The available credits now. */
  readonly readCredits: (signal: AbortSignal | undefined) => Promise<number>;
}

/**
 * Runs `create`. While it is refused for credits that an automatic top-up is about to bring, waits until the balance has
 * risen, and runs it again; at most a minute in all. @throws the refusal after that time
 */
export async function withTopUp<Value>(
  { wait, readCredits }: TopUpWaiting,
  signal: AbortSignal | undefined,
  create: () => Promise<Value>,
): Promise<Value> {
  for (let left_ms = WAIT_MS; ;) {
    try {
      return await create();
    } catch (error) {
      if (!isPending(error)) throw error;
      const before = Number(error.body["credits"]);
      let has_risen = false;
      while (!has_risen && left_ms > 0) {
        await wait(PAUSE_MS, signal);
        left_ms -= PAUSE_MS;
        has_risen = (await readCredits(signal)) > before;
      }
      if (!has_risen) throw error;
    }
  }
}

function isPending(error: unknown): error is PassbookError {
  return isPassbookError(error, "insufficient_credits") && error.body["topup"] === "pending";
}
