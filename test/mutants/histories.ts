/** The module `test/worker/support/histories.ts`, for tests that run once for each mutant. */

/** A change of the code shows in few histories, or a test must be more exact. */
const SHARE = 1 / 64;

/** The number of histories to try, of `all` in the slow check. */
export function histories(all: number): number {
  return Math.ceil(all * SHARE);
}
