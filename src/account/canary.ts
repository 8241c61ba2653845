/**
 * The canary is an account of nobody. `/readyz` reserves and settles a job in it, so a release whose objects cannot
 * start, migrate or write is never ready. The canary is not in the read model or its totals.
 *
 * After a deployment, an object that is in use keeps the earlier code for up to five minutes. The canary of an earlier
 * release would say nothing about this one, so it ends when a Worker of a later release calls it. The platform starts
 * an object that is not running with the newest code.
 */
import { DEFAULT_POLICY } from "../domain/app_policy.ts";
import { accepted, assertInvariant } from "../domain/result.ts";
import { CANARY_IDENTITY, type Answer } from "./contract.ts";
import { createJob } from "./jobs/create.ts";
import { completeJob } from "./jobs/settle.ts";
import { ensureOpen } from "./ledger/posting.ts";
import type { Transaction } from "./transaction.ts";

/** Entries that the canary keeps, so that a migration meets rows. After them, each exercise is rolled back. */
const CANARY_ENTRIES_MAX = 40;

const JOB = {
  app_slug: "passbook-canary",
  policy: DEFAULT_POLICY,
  action: "readiness",
  cost_estimate: 0,
  ttl_seconds: 60,
  metadata_json: null,
};

/**
 * Ends the canary's object if its release is earlier than the Worker's, which was created at `released_at`. The call then
 * fails, and changes nothing. A release without a time is never earlier.
 */
export function endEarlierRelease(
  context: DurableObjectState,
  release: WorkerVersionMetadata | undefined,
  released_at: string | null,
): void {
  const is_earlier = Date.parse(release?.timestamp ?? "") < Date.parse(released_at ?? "");
  if (is_earlier && context.id.name === CANARY_IDENTITY) {
    context.abort("the canary's release is earlier than the Worker's");
  }
}

const MARKER = "directory_marker";

/** See `directory/marker.ts`. Not in a table, because every account would have one. */
export function keepDirectoryMarker({ id: { name }, storage }: DurableObjectState, id: string) {
  assertInvariant(name === CANARY_IDENTITY, "only the canary keeps the directory's id");
  const known = storage.kv.get<string>(MARKER);
  if (known === undefined) storage.kv.put(MARKER, id);
  return known ?? id;
}

/** Opens the account if needed, reserves a job and settles it. @throws if one of these fails. */
export function exercise(transaction: Transaction): Answer<null> {
  assertInvariant(transaction.identity_id === CANARY_IDENTITY, "only the canary is exercised");
  const entries = transaction.store.readNewestEntry()?.line ?? 0;
  if (entries < CANARY_ENTRIES_MAX) runJob(transaction);
  else rollBack(transaction, () => runJob(transaction));
  return accepted(null);
}

function runJob(transaction: Transaction): void {
  ensureOpen(transaction);
  const created = createJob(transaction, JOB);
  assertInvariant(created.ok, "the canary may create a job");
  const { job_id } = created.value;
  const settled = completeJob(transaction, { job_id, actual_cost: 0, metadata_json: null });
  assertInvariant(settled.ok, "the canary may settle its job");
}

/** Does the work, and rolls it back. @throws what `work` throws. */
function rollBack({ part }: Transaction, work: () => void): void {
  const done = new Error("rolled back on purpose");
  try {
    part(() => {
      work();
      throw done;
    });
  } catch (error) {
    if (error !== done) throw error;
  }
}
