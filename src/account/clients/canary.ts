/** How `/readyz` checks that accounts' objects work with the code of this release. */
import { CANARY_IDENTITY } from "../contract.ts";
import type { Accounts } from "./accounts.ts";

/**
 * Reserves and settles a job in the canary account. The first call ends an object that still runs an earlier release, and
 * the second call starts it with this one. @throws if the second call fails too.
 */
export async function exerciseCanary(
  accounts: Accounts,
  release: WorkerVersionMetadata | undefined,
): Promise<void> {
  const exercise = async (): Promise<unknown> =>
    accounts(CANARY_IDENTITY).exercise(release?.timestamp ?? null);
  await exercise().catch(exercise);
}
