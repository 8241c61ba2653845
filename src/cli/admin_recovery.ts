/** `passbook admin restore-account`: shows what a restore of accounts to an earlier time undoes, and restores them. */
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { pagesOf, type AdminCalls } from "../client/admin/index.ts";
import {
  isPassbookError,
  PassbookError,
  type RecoveredAccount,
  type RecoveryPlan,
} from "../client/index.ts";
import { fromArchive } from "./admin_lost.ts";
import { plain, print } from "./output.ts";
import { adminOf, type GlobalOptions } from "./session.ts";

interface RestoreOptions extends GlobalOptions {
  readonly to?: string;
  readonly fromArchive?: true;
  readonly file?: string;
  readonly yes?: true;
  readonly reason?: string;
}

interface RestoredAccount {
  readonly identity_id: string;
  /** Null: the account was not restored. */
  readonly plan: (RecoveryPlan & Partial<Pick<RecoveredAccount, "lost">>) | null;
  readonly error?: string;
}

export function addRecovery(admin: Command): void {
  admin
    .command("restore-account [identity]")
    .description("show what a restore of an account brings back and undoes; with --yes: restore")
    .option("--to <time>", "to a time of the last 30 days, such as 2026-11-21T10:00:00Z")
    .option("--from-archive", "from the archive, if the platform lost the account's storage")
    .option("--file <file>", "the accounts whose identities are in this file, one a line")
    .option("--yes", "restore, after you have read the difference")
    .option("--reason <text>", "why; the audit log keeps it")
    .action((identity: string | undefined, _, command: Command) =>
      restore(identity, command.optsWithGlobals()),
    );
}

async function restore(identity: string | undefined, given: RestoreOptions): Promise<void> {
  const identities = await identitiesOf(identity, given.file);
  const { admin, options, own } = await adminOf(given);
  const { to, fromArchive: is_lost = false } = own;
  if ((to === undefined) !== is_lost) {
    throw new PassbookError("invalid_argument", "Use either --to with a time, or --from-archive.");
  }
  if (is_lost || to === undefined) {
    const progress = options.json ? () => undefined : showProgress;
    const shown = await fromArchive(admin, identities, { ...own, progress });
    const payments = own.yes === true ? await reconciled(admin) : null;
    if (shown.failed > 0) process.exitCode = 1;
    const lines = [...shown.lines, ...(own.yes === true ? [bookedText(payments)] : [])];
    const { accounts } = shown;
    return print(options, { restored: own.yes === true, accounts, payments }, () =>
      lines.join("\n"),
    );
  }
  const accounts: RestoredAccount[] = [];
  for (const identity_id of identities) {
    accounts.push(await restoreOne(admin, identity_id, { ...own, to }));
    if (!options.json) showProgress(accounts.length, identities.length);
  }
  // Payments whose rows were lost before the restore.
  const payments = own.yes === true ? await reconciled(admin) : null;
  const failed = accounts.filter(({ error }) => error !== undefined).length;
  if (failed > 0) process.exitCode = 1;
  print(options, { restored: own.yes === true, accounts, payments }, () =>
    [...accounts.flatMap(textOf), ...summaryOf(accounts, own, payments)].join("\n"),
  );
}

async function identitiesOf(
  identity: string | undefined,
  file: string | undefined,
): Promise<readonly string[]> {
  if ((identity === undefined) === (file === undefined)) {
    throw new PassbookError("invalid_argument", "Name one identity, or use --file.");
  }
  if (file === undefined) return [identity ?? ""];
  const lines = (await readFile(file, "utf8")).split("\n").map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== ""))];
}

async function restoreOne(
  admin: AdminCalls,
  identity_id: string,
  {
    to,
    yes,
    reason = `Restored to ${to}`,
  }: Pick<RestoreOptions, "yes" | "reason"> & { readonly to: string },
): Promise<RestoredAccount> {
  try {
    const plan =
      yes === true
        ? await admin.recoverAccount(identity_id, { to, reason })
        : await admin.planRecovery(identity_id, { to });
    return { identity_id, plan };
  } catch (error) {
    if (!isPassbookError(error)) throw error;
    return { identity_id, plan: null, error: error.message };
  }
}

/** Books payments that no account has. Null: credits are not for sale, or the payment service does not respond. */
async function reconciled(admin: AdminCalls): Promise<{ readonly booked: number } | null> {
  try {
    let booked = 0;
    for await (const page of pagesOf((next) => admin.reconcilePayments(next))) {
      booked += page.booked.length;
    }
    return { booked };
  } catch (error) {
    if (!isPassbookError(error)) throw error;
    return null;
  }
}

const DECISION_TEXTS: Readonly<Record<string, string>> = {
  job_gone: "does not exist any more. Its app gets 404",
  job_open_again: "is started again for a day. Its app can end it again",
  credits_undone: "An operator's change of credits is undone",
  plan_undone: "An operator's change of the plan is undone",
};

function textOf({ identity_id, plan, error = "" }: RestoredAccount): readonly string[] {
  if (plan === null) return [plain(`${identity_id}: ${error}`)];
  const { target, undone_entries, kept_credits, decisions, lost } = plan;
  // The restored account has both.
  const now = lost === undefined ? plan.now : null;
  const from = (value: number | undefined): string => (value === undefined ? "" : `${value} to `);
  const changes = [
    `credits ${from(now?.credits)}${target.credits + kept_credits}`,
    `held ${from(now?.held)}${target.held}`,
    `started jobs ${from(now?.started_jobs)}${target.started_jobs}`,
    `${undone_entries} entries undone`,
    `${kept_credits} credits of payments kept`,
  ];
  return [
    plain(`${identity_id}: ${changes.join(", ")}`),
    ...(lost ?? []).map(({ line, job_id, amount }) =>
      plain(
        `  a request arrived during the restore and is undone: entry ${line}, ${job_id ?? ""} ${amount}`,
      ),
    ),
    ...decisions.map(({ what, line, job_id, amount, note }) => {
      const job = job_id === null ? "" : `job ${job_id} `;
      const reason = note === null ? "" : ` (${note})`;
      return plain(`  entry ${line}: ${job}${DECISION_TEXTS[what] ?? what}: ${amount}${reason}`);
    }),
  ];
}

function summaryOf(
  accounts: readonly RestoredAccount[],
  { yes }: Pick<RestoreOptions, "yes">,
  payments: { readonly booked: number } | null,
): readonly string[] {
  const done = accounts.filter(({ plan }) => plan !== null).length;
  const decisions = accounts.reduce((sum, { plan }) => sum + (plan?.decisions_total ?? 0), 0);
  const count = `${done} of ${accounts.length} accounts`;
  if (yes !== true) {
    return [
      `${count} can be restored. A person must decide ${decisions} times. Nothing has changed: add --yes.`,
    ];
  }
  return [`${count} are restored. A person must decide ${decisions} times.`, bookedText(payments)];
}

function bookedText(payments: { readonly booked: number } | null): string {
  return payments === null
    ? "Payments were not compared. If you sell credits, run: passbook admin reconcile"
    : `${payments.booked} missing payments were booked.`;
}

function showProgress(done: number, all: number): void {
  process.stderr.write(`${done} of ${all}\n`);
}
