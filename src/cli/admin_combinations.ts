/** The commands of `passbook admin` that combine several calls. */
import type { Command } from "commander";
import { pagesOf, type AdminCalls } from "../client/admin/index.ts";
import {
  isPassbookError,
  PassbookError,
  type ComparedPage,
  type ReconciledPage,
  type SuspendedAccounts,
} from "../client/index.ts";
import { readText } from "./admin_response.ts";
import { plain, print } from "./output.ts";
import { adminOf, type GlobalOptions } from "./session.ts";
import { entryTable } from "./show.ts";

interface RunOptions extends GlobalOptions {
  readonly cursor?: string;
}

type RebuildOptions = RunOptions & { readonly all?: true };
type SuspendOptions = GlobalOptions & {
  readonly reason: string;
  readonly publicReason?: string;
  readonly key?: string;
};

export function addCombinations(admin: Command): void {
  admin
    .command("job <identity> <job>")
    .description("show one job of an account, with its ledger entries")
    .action((identity: string, job: string, _, command: Command) =>
      showJob(identity, job, command.optsWithGlobals()),
    );
  admin
    .command("suspend <identities...>")
    .description("lock the holders of these accounts out")
    .requiredOption("--reason <text>", "why; the audit log keeps it")
    .option("--public-reason <text>", "why, as the holders read it")
    .option("--key <key>", "the idempotency key, for repeating this command safely")
    .action((identities: readonly string[], _, command: Command) =>
      suspend(identities, command.optsWithGlobals()),
    );
  admin
    .command("rebuild [identity]")
    .description("write one account to the read model again, or repair all accounts there")
    .option("--all", "every account that is missing or out of date in the read model")
    .option("--cursor <cursor>", "with --all: continue a run that broke off")
    .action((identity: string | undefined, _, command: Command) =>
      rebuild(identity, command.optsWithGlobals()),
    );
  admin
    .command("differences")
    .description("compare accounts with their own sums, the archive and the read model")
    .option("--check <identity>", "only this account")
    .option("--cursor <cursor>", "continue a run that broke off")
    .action((_, command: Command) => findDifferences(command.optsWithGlobals()));
  admin
    .command("reconcile")
    .description("book recent payments, refunds and disputes whose webhook did not arrive")
    .option("--cursor <cursor>", "continue a run that broke off")
    .action((_, command: Command) => reconcile(command.optsWithGlobals()));
}

async function showJob(identity: string, id: string, given: GlobalOptions): Promise<void> {
  const { admin, options } = await adminOf(given);
  const job = await admin.readAccountJob(identity, id);
  const { entries } = await admin.listAccountLedger(identity, { jobId: job.id });
  print(options, { job, entries }, () => `${readText(job)}\n\n${entryTable(entries)}`);
}

/** Accounts that one request suspends, under a key of its own. */
const SUSPENDED_AT_ONCE_MAX = 100;

async function suspend(identities: readonly string[], given: SuspendOptions): Promise<void> {
  const { admin, options, own } = await adminOf(given);
  const { reason, publicReason, key } = own;
  const texts = { reason, ...(publicReason !== undefined && { publicReason }) };
  const [first = "", ...others] = identities;
  if (others.length === 0) {
    await admin.suspendAccount(first, texts, key === undefined ? {} : { idempotencyKey: key });
    return print(options, { ok: true }, () => "Done.");
  }
  const results: SuspendedAccounts["results"][number][] = [];
  for (let at = 0; at < identities.length; at += SUSPENDED_AT_ONCE_MAX) {
    const identityIds = identities.slice(at, at + SUSPENDED_AT_ONCE_MAX);
    const keyed = key === undefined ? {} : { idempotencyKey: at === 0 ? key : `${key}.${at}` };
    results.push(...(await admin.suspendAccounts({ identityIds, ...texts }, keyed)).results);
  }
  const failed = results.filter(({ ok }) => ok !== true);
  if (failed.length > 0) process.exitCode = 1;
  const lines = failed.map(({ identity_id, error = "" }) => `${identity_id}: ${error}`);
  const total = `${results.length - failed.length} of ${results.length} accounts are suspended.`;
  print(options, { results }, () => [total, ...lines].map(plain).join("\n"));
}

/** The shortest time between two lines of progress. */
const PROGRESS_MS = 1_000;

/**
 * The pages of a run that repairs something. Prints its progress.
 * @throws PassbookError that says how to continue
 */
export async function* pagesOfRun<Page extends { readonly next_cursor?: string | undefined }>(
  { json = false, cursor: from }: RunOptions,
  command: string,
  read: (page: { readonly cursor?: string | undefined }) => Promise<Page>,
  progress: () => string,
): AsyncGenerator<Page, void, undefined> {
  let [cursor, shown_ms] = [from, 0];
  try {
    for await (const page of pagesOf((next) => read({ cursor: from, ...next }))) {
      cursor = page.next_cursor;
      yield page;
      if (json || Date.now() - shown_ms < PROGRESS_MS) continue;
      shown_ms = Date.now();
      process.stderr.write(`${progress()}\n`);
    }
  } catch (error) {
    if (cursor === undefined || !isPassbookError(error)) throw error;
    const message = `${error.message} Continue with: passbook admin ${command} --cursor ${cursor}`;
    throw new PassbookError(error.code, message, { cause: error });
  }
}

async function rebuild(identity: string | undefined, given: RebuildOptions): Promise<void> {
  const is_all = given.all === true;
  if (is_all === (identity !== undefined) || (given.cursor !== undefined && !is_all)) {
    const message = "Name one identity, or use --all. --cursor needs --all.";
    throw new PassbookError("invalid_argument", message);
  }
  const { admin, options } = await adminOf(given);
  if (identity === undefined) return rebuildAll(admin, given);
  await admin.rebuildAccount(identity);
  print(options, { ok: true }, () => "Done.");
}

async function rebuildAll(admin: AdminCalls, given: RebuildOptions): Promise<void> {
  const sum = { checked: 0, repaired: 0, failed: [] as string[] };
  let people = "";
  const progress = (): string =>
    `Checked ${count(sum.checked)}${people}, repaired ${count(sum.repaired)}.`;
  const read = (page: { readonly cursor?: string | undefined }) => admin.rebuildAccounts(page);
  for await (const page of pagesOfRun(given, "rebuild --all", read, progress)) {
    if (page.people !== undefined) people = ` of ${count(page.people)}`;
    sum.checked += page.checked;
    sum.repaired += page.repaired;
    sum.failed.push(...page.failed);
  }
  const lines = sum.failed.map((identity) => `Not repaired: ${plain(identity)}`);
  print(given, sum, () => [`Done. ${progress()}`, ...lines].join("\n"));
  if (sum.failed.length > 0) process.exitCode = 1;
}

export function count(value: number): string {
  return value.toLocaleString("en-GB");
}

type DifferencesOptions = RunOptions & { readonly check?: string };

async function findDifferences(given: DifferencesOptions): Promise<void> {
  const { admin, own } = await adminOf(given);
  const sum = { checked: 0, differences: [] as object[], failed: [] as string[] };
  const add = ({ checked, differences, failed }: ComparedPage): void => {
    sum.checked += checked;
    sum.differences.push(...differences);
    sum.failed.push(...failed);
  };
  const progress = (): string =>
    `Compared ${count(sum.checked)}, found ${count(sum.differences.length)} differences.`;
  if (own.check === undefined) {
    const read = (page: { readonly cursor?: string | undefined }) => admin.listDifferences(page);
    for await (const page of pagesOfRun(given, "differences", read, progress)) add(page);
  } else add(await admin.listAccountDifferences(own.check));
  print(given, sum, () =>
    [
      progress(),
      ...(sum.differences.length === 0 ? [] : [readText({ differences: sum.differences })]),
      ...sum.failed.map((identity) => `Not compared: ${plain(identity)}`),
    ].join("\n"),
  );
  if (sum.differences.length + sum.failed.length > 0) process.exitCode = 1;
}

async function reconcile(given: RunOptions): Promise<void> {
  const { admin } = await adminOf(given);
  const booked: ReconciledPage["booked"][number][] = [];
  const not_booked: ReconciledPage["not_booked"][number][] = [];
  let checked = 0;
  const progress = (): string =>
    `Checked ${checked} payments, booked ${booked.length} that were missing.`;
  const read = (page: { readonly cursor?: string | undefined }) => admin.reconcilePayments(page);
  for await (const page of pagesOfRun(given, "reconcile", read, progress)) {
    checked += page.checked;
    booked.push(...page.booked);
    not_booked.push(...page.not_booked);
  }
  print(given, { checked, booked, not_booked }, () =>
    [
      `Done. ${progress()}`,
      ...(booked.length === 0 ? [] : ["", readText({ booked })]),
      ...not_booked.map(({ id, code }) => `Not booked: ${plain(id)} (${plain(code)})`),
    ].join("\n"),
  );
  if (not_booked.length > 0) process.exitCode = 1;
}
