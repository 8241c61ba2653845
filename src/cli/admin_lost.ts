/** `passbook admin restore-account --from-archive`: accounts whose storage the platform lost. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AdminCalls } from "../client/admin/index.ts";
import { isPassbookError, type LostAccount, type RestoredAccount } from "../client/index.ts";
import { fetchArchive } from "./admin_archive.ts";
import { countArchived, verifyAccount, type VerifiedAccount } from "./archive.ts";
import { plain } from "./output.ts";

interface LostOptions {
  readonly yes?: true;
  readonly reason?: string;
  /** Called after each account. */
  readonly progress: (done: number, all: number) => void;
}

/** What comes back, or came back. */
interface Shown extends LostAccount {
  readonly identity_id: string;
  /** The account after the newest entry of the archive. */
  readonly archived: {
    readonly entries: number;
    readonly at: string;
    readonly credits: number;
    readonly held: number;
    readonly started_jobs: number;
    readonly jobs: number;
    readonly purchases: number;
  };
  /** Null: nothing was changed. */
  readonly restored: RestoredAccount | null;
}

type Outcome = Shown | { readonly identity_id: string; readonly error: string };

interface FromArchive {
  readonly accounts: readonly Outcome[];
  readonly lines: readonly string[];
  readonly failed: number;
}

/** Checks the archive of each account here, and restores it only if it is sound. */
export async function fromArchive(
  admin: AdminCalls,
  identities: readonly string[],
  { progress, ...options }: LostOptions,
): Promise<FromArchive> {
  const accounts: Outcome[] = [];
  for (const identity_id of identities) {
    accounts.push(await restoreOne(admin, identity_id, options));
    progress(accounts.length, identities.length);
  }
  const failed = accounts.filter((one) => "error" in one).length;
  const count = `${accounts.length - failed} of ${accounts.length} accounts`;
  const summary =
    options.yes === true
      ? `${count} are restored.`
      : `${count} can be restored. Nothing has changed: add --yes.`;
  return { accounts, lines: [...accounts.flatMap(textOf), NOT_ARCHIVED, summary], failed };
}

async function restoreOne(
  admin: AdminCalls,
  identity_id: string,
  { yes, reason = "Restored from the archive" }: Omit<LostOptions, "progress">,
): Promise<Outcome> {
  try {
    const lost = await admin.planLostRestore(identity_id);
    if (lost.refusal !== null) return { identity_id, error: lost.refusal };
    const { newest, problems, jobs, purchases } = await checkArchive(admin, identity_id, lost);
    if (problems.length > 0) {
      return { identity_id, error: `The archive is not sound: ${problems.join("; ")}.` };
    }
    const { line: entries, at_ms, ...balance } = newest;
    const archived = { entries, at: new Date(at_ms).toISOString(), ...balance, jobs, purchases };
    const restored = yes === true ? await admin.restoreLost(identity_id, { reason }) : null;
    return { identity_id, ...lost, archived, restored };
  } catch (error) {
    if (!isPassbookError(error)) throw error;
    return { identity_id, error: error.message };
  }
}

/** Fetches the account's segments, and checks them as `passbook archive verify` does. */
async function checkArchive(
  admin: AdminCalls,
  identity_id: string,
  { account_id }: LostAccount,
): Promise<VerifiedAccount & { readonly jobs: number; readonly purchases: number }> {
  const folder = await mkdtemp(join(tmpdir(), "passbook-archive-"));
  try {
    await fetchArchive(admin, identity_id, folder);
    const verified = await verifyAccount(folder, account_id, Number.POSITIVE_INFINITY);
    return { ...verified, ...(await countArchived(folder, account_id)) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const NOT_ARCHIVED =
  "The archive does not have tokens, connections, third-party tokens, idempotency keys, and automatic top-up, which stays off until the holder sets it again.";

function textOf(outcome: Outcome): readonly string[] {
  const { identity_id } = outcome;
  if ("error" in outcome) return [plain(`${identity_id}: ${outcome.error}`)];
  const { archived, read_model, restored } = outcome;
  const { entries, at, credits, held, started_jobs, jobs, purchases } = archived;
  const has = [
    `${entries} entries up to ${at}`,
    `credits ${credits}`,
    `held ${held}`,
    `${started_jobs} of ${jobs} jobs started`,
    `${purchases} purchases`,
  ];
  const lost = Math.max(0, read_model.line - entries);
  const missing =
    lost === 0
      ? "The chain ends where the read model says, and nothing is lost."
      : `The chain ends where the read model says. ${lost} later entries are lost: after the last, at ${read_model.at}, the account had credits ${read_model.credits}, held ${read_model.held}. A person decides what to give back.`;
  const now =
    restored === null
      ? []
      : [
          `  now: entry ${restored.now.line}, credits ${restored.now.credits}, held ${restored.now.held}`,
        ];
  return [plain(`${identity_id}: ${has.join(", ")}`), plain(`  ${missing}`), ...now.map(plain)];
}
