/** The consequences of ended tokens: tokens that were exchanged from them, their jobs and their streams end too. */
import { connectionRevoked } from "../domain/access_event.ts";
import { revokerOf } from "./caller.ts";
import { expireRevokedJobs } from "./jobs/expiry.ts";
import type { Transaction } from "./transaction.ts";

/**
 * Ends what depends on the families and allowances that ended since the last call, and announces the connections among
 * them, after the ends of their jobs.
 */
export function endDependants(transaction: Transaction): void {
  const { allowances, families, announce, caller, now_ms } = transaction;
  const has_ended_families = families.takeEnded();
  if (has_ended_families) allowances.endOfEndedFamilies(now_ms);
  const ended = allowances.takeEnded();
  if (ended !== null) expireRevokedJobs(transaction);
  for (const { connection, by } of ended ?? []) {
    announce.accessChanged(connectionRevoked(connection, by ?? revokerOf(caller)), now_ms);
  }
  if (has_ended_families || ended !== null) announce.credentialsEnded();
}
