/** `passbook admin …`: operates the service. Its commands need a token with the scope `admin`. */
import { Option, type Command } from "commander";
import {
  type Admin,
  type AuditEntry,
  type AuditFilter,
  type AccountFilter,
  type SuspendedAccounts,
} from "../client/index.ts";
import {
  ledgerFilterOf,
  paged,
  readChange,
  readCredits,
  withJobFilters,
  withLedgerFilters,
  withTimes,
  type LedgerOptions,
} from "./filters.ts";
import { more, plain, print, table, writePieces } from "./output.ts";
import {
  showMoney,
  showPurchases,
  type MoneyOptions,
  type PurchaseOptions,
} from "./admin_money.ts";
import { showJob, showJobs, type AllJobsFilter } from "./admin_jobs.ts";
import { showHealth } from "./admin_health.ts";
import { rebuild, type RebuildOptions } from "./admin_rebuild.ts";
import { reconcile, type ReconcileOptions } from "./admin_reconcile.ts";
import { signedIn, type GlobalOptions } from "./session.ts";
import { printLedger } from "./show.ts";

type Options<Filter = object> = GlobalOptions & Filter;
interface Reason {
  readonly reason: string;
  readonly key?: string;
}

/** Adds the commands to the program. */
export function addAdmin(program: Command): Command {
  const admin = program.command("admin").description("operate the service");
  addLists(admin);
  addActs(admin);
  return admin;
}

/** The calls for operators, the global options, and the command's own options. */
async function adminOf<Filter>({ json = false, url, ...rest }: Options<Filter>) {
  const options = { json, ...(url === undefined ? {} : { url }) };
  return { admin: (await signedIn(options)).admin, options, filter: rest as unknown as Filter };
}

function addLists(admin: Command): void {
  paged(admin.command("accounts [search]"))
    .description("find accounts by id, identity or the beginning of an e-mail address")
    .addOption(
      new Option("--sort <by>", "newest first, or highest balance first").choices([
        "created",
        "credits",
      ]),
    )
    .addOption(
      new Option("--order <order>", "desc: newest or highest first").choices(["desc", "asc"]),
    )
    .addOption(
      new Option("--state <state>", "only accounts in this state").choices(["active", "suspended"]),
    )
    .option("--app <slug>", "only accounts that got starter credits of this app")
    .option("--domain <domain>", "only people with an e-mail address in this domain")
    .option("--created-from <day>", "only accounts opened from this day or time on")
    .action((q: string | undefined, _, command: Command) =>
      showAccounts(q, command.optsWithGlobals<Options<AccountFilter>>()),
    );
  admin
    .command("account <identity>")
    .description("show one account in full")
    .action((identity: string, _, command: Command) =>
      showAccount(identity, command.optsWithGlobals<Options>()),
    );
  paged(admin.command("purchases <identity>"))
    .description("list an account's purchases, newest first")
    .action(async (identity: string, _, command: Command) => {
      const given = command.optsWithGlobals<Options<PurchaseOptions>>();
      const { admin, options, filter } = await adminOf(given);
      return showPurchases(admin, options, identity, filter);
    });
  withLedgerFilters(admin.command("ledger <identity>"))
    .description("list every change of an account's balance, newest first")
    .action((identity: string, _, command: Command) =>
      showAccountLedger(identity, command.optsWithGlobals<Options<LedgerOptions>>()),
    );
  withJobFilters(admin.command("jobs"))
    .description("list jobs of all accounts, newest first")
    .option("--identity <id>", "only jobs of this person, by identity or e-mail address")
    .action(async (_, command: Command) => {
      const { admin, options, filter } = await adminOf(
        command.optsWithGlobals<Options<AllJobsFilter>>(),
      );
      return showJobs(admin, options, filter);
    });
  admin
    .command("job <identity> <job>")
    .description("show one job of an account, with its ledger entries")
    .action(async (identity: string, job: string, _, command: Command) => {
      const { admin, options } = await adminOf(command.optsWithGlobals<Options>());
      return showJob(admin, options, identity, job);
    });
  admin
    .command("stats")
    .description("show totals by UTC day; the last 30 days by default")
    .option("--from <day>", "the first day, such as 2026-11-01")
    .option("--to <day>", "the day after the last one")
    .option("--app <slug>", "only totals of this app")
    .action((_, command: Command) => showStats(command.optsWithGlobals()));
  admin
    .command("money")
    .description("show outstanding credits, and credits and money by UTC day to close a month")
    .option("--from <day>", "the first day, such as 2026-11-01; the last 30 days by default")
    .option("--to <day>", "the day after the last one")
    .addOption(
      new Option("--csv <list>", "write one list as CSV").choices([
        "by_app",
        "revenue",
        "accounts",
      ]),
    )
    .action(async (_, command: Command) => {
      const given = command.optsWithGlobals<Options<MoneyOptions>>();
      const { admin, options, filter } = await adminOf(given);
      return showMoney(admin, options, filter);
    });
  admin
    .command("health")
    .description("show whether the service is healthy; exits with 5 if something needs attention")
    .action(async (_, command: Command) => {
      const { admin, options } = await adminOf(command.optsWithGlobals<Options>());
      return showHealth(admin, options);
    });
  withTimes(paged(admin.command("audit")))
    .description("list what operators did, newest first")
    .option("--actor <identity>", "only acts of this operator, by identity or e-mail address")
    .option("--act <act>", "only acts of this kind, such as account.credits")
    .option("--subject <id>", "only acts on this person or app")
    .option("--csv", "write the newest 10,000 acts as CSV")
    .action((_, command: Command) => showAudit(command.optsWithGlobals<Options<AuditOptions>>()));
  admin
    .command("operators")
    .description("list the entries of OPERATORS with their roles")
    .action((_, command: Command) => showOperators(command.optsWithGlobals<Options>()));
}

async function showOperators(given: Options): Promise<void> {
  const { admin, options } = await adminOf(given);
  const list = await admin.operators();
  print(options, list, () =>
    table(
      ["ENTRY", "ROLE", "PROBLEM"],
      list.operators.map(({ entry, role, problem }) => [entry, role, problem ?? ""]),
    ),
  );
}

/** A command that changes one account, with a reason. With `--key` it is safe to repeat. */
function act(admin: Command, usage: string, description: string, needs_reason = true): Command {
  const reason = new Option("--reason <text>", "why; the audit log keeps it");
  return admin
    .command(usage)
    .description(description)
    .addOption(reason.makeOptionMandatory(needs_reason))
    .option("--key <key>", "the idempotency key, for repeating this command safely");
}

function addActs(admin: Command): void {
  act(admin, "credits <identity>", "add credits; remove them with -- -50")
    .argument("<amount>", "a whole number, not 0", readChange)
    .option("--below-zero", "remove credits even if the balance falls below zero")
    .action((identity: string, amount: number, given: { belowZero?: true }, command: Command) =>
      perform(command, async (it, { reason, key }) => {
        const allowNegative = given.belowZero ?? false;
        const change = { amount, reason, ...(allowNegative ? { allowNegative } : {}) };
        const response = await it.adjustCredits(identity, change, key);
        return { response, text: `Done. The balance is ${response.credits} credits.` };
      }),
    );
  act(admin, "refund <identity> <job>", "give back the cost of an ended job")
    .option("--amount <credits>", "only so many credits; all that is left by default", readCredits)
    .action((identity: string, job: string, given: { amount?: number }, command: Command) =>
      perform(command, async (it, { reason, key }) => {
        const { amount } = given;
        const response = await it.refundJob(identity, job, { amount, reason }, key);
        const text = `Refunded ${response.entry.amount} credits. The balance is ${response.credits} credits.`;
        return { response, text };
      }),
    );
  act(admin, "plan <identity> <plan>", "set the plan").action(
    (identity: string, plan: string, _, command: Command) =>
      perform(command, async (it, { reason, key }) => {
        const account = await it.changePlan(identity, { plan, reason }, key);
        return { response: { ok: true, account }, text: `Done. The plan is ${account.plan}.` };
      }),
  );
  const simple = {
    restore: "unlock the account",
    signout: "end all sessions",
  } as const;
  for (const [name, description] of Object.entries(simple)) {
    const call = name === "signout" ? "signOut" : "restore";
    act(admin, `${name} <identity>`, description, name !== "signout").action(
      (identity: string, _, command: Command) =>
        perform(command, async (it, { reason, key }) => {
          await it[call](identity, { reason }, key);
          return DONE;
        }),
    );
  }
  act(admin, "suspend <identities...>", "lock the holders of these accounts out").action(
    (identities: readonly string[], _, command: Command) =>
      perform(command, (it, change) => suspend(it, identities, change)),
  );
  act(admin, "revoke <identity> <token>", "revoke a personal access token", false).action(
    (identity: string, token: string, _, command: Command) =>
      perform(command, async (it, { reason, key }) => {
        await it.revokePersonalToken(identity, token, { reason }, key);
        return { ...DONE, text: "Revoked." };
      }),
  );
  act(admin, "delete <identity>", "delete an account for good, as its holder could")
    .requiredOption("--confirm <identity>", "the account's identity, once more")
    .action((identity: string, given: { confirm: string }, command: Command) =>
      perform(command, async (it, { reason, key }) => {
        await it.deleteAccount(identity, { confirm: given.confirm, reason }, key);
        return { ...DONE, text: "Deleted. The data is erased within minutes." };
      }),
    );
  admin
    .command("export <identity>")
    .description("print everything that is stored about a person, as JSON")
    .requiredOption("--reason <text>", "why; the audit log keeps it, and the person can see it")
    .action(async (identity: string, _, command: Command) => {
      const { admin: it, filter } = await adminOf(command.optsWithGlobals<Options<Reason>>());
      const data = await it.exportAccount(identity, { reason: filter.reason });
      process.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
    });
  admin
    .command("rebuild [identity]")
    .description("write one account to the read model again, or repair all accounts there")
    .option("--all", "every account that is missing or out of date in the read model")
    .option("--cursor <cursor>", "with --all: continue a run that broke off")
    .action((identity: string | undefined, _, command: Command) =>
      rebuild(identity, command.optsWithGlobals<RebuildOptions>()),
    );
  admin
    .command("reconcile")
    .description("book recent payments, refunds and disputes whose webhook did not arrive")
    .option("--cursor <cursor>", "continue a run that broke off")
    .action((_, command: Command) => reconcile(command.optsWithGlobals<ReconcileOptions>()));
}

/** The service's response, and its text for people. */
interface Outcome {
  readonly response: object;
  readonly text: string;
}

const DONE: Outcome = { response: { ok: true }, text: "Done." };

/** Accounts that one request suspends, under a key of its own. */
const SUSPENDED_AT_ONCE_MAX = 100;

async function suspend(
  admin: Admin,
  identities: readonly string[],
  { reason, key }: ChangeOptions,
): Promise<Outcome> {
  const [first = "", ...others] = identities;
  if (others.length === 0) return admin.suspend(first, { reason }, key).then(() => DONE);
  const results: SuspendedAccounts["results"][number][] = [];
  for (let at = 0; at < identities.length; at += SUSPENDED_AT_ONCE_MAX) {
    const some = identities.slice(at, at + SUSPENDED_AT_ONCE_MAX);
    const own =
      key.idempotencyKey && at > 0 ? { idempotencyKey: `${key.idempotencyKey}.${at}` } : key;
    results.push(...(await admin.suspendMany(some, { reason }, own)).results);
  }
  const failed = results.filter(({ ok }) => ok !== true);
  if (failed.length > 0) process.exitCode = 1;
  const lines = failed.map(({ identity_id, error }) => `${identity_id}: ${error}`);
  const total = `${results.length - failed.length} of ${results.length} accounts are suspended.`;
  return { response: { results }, text: [total, ...lines].join("\n") };
}

type ChangeOptions = {
  readonly reason: string;
  readonly key: { readonly idempotencyKey?: string };
};

async function perform(
  command: Command,
  work: (admin: Admin, options: ChangeOptions) => Promise<Outcome>,
): Promise<void> {
  const { admin, options, filter } = await adminOf(command.optsWithGlobals<Options<Reason>>());
  const key = filter.key === undefined ? {} : { idempotencyKey: filter.key };
  const { response, text } = await work(admin, { reason: filter.reason, key });
  print(options, response, () => text.split("\n").map(plain).join("\n"));
}

async function showAccounts(q: string | undefined, given: Options<AccountFilter>): Promise<void> {
  const { admin, options, filter } = await adminOf(given);
  const page = await admin.accounts({ ...filter, ...(q === undefined ? {} : { q }) });
  print(options, page, () => {
    const rows = page.accounts.map((it) => [
      it.email ?? it.name ?? "",
      it.plan,
      it.state,
      String(it.credits),
      String(it.reserved),
      it.created_at,
      it.identity_id,
    ]);
    const names = ["PERSON", "PLAN", "STATE", "CREDITS", "HELD", "CREATED", "IDENTITY"];
    return rows.length === 0 ? "No accounts." : table(names, rows) + more(page.next_cursor);
  });
}

async function showAccount(identity: string, given: Options): Promise<void> {
  const { admin, options } = await adminOf(given);
  const inspected = await admin.account(identity);
  print(options, inspected, () => {
    const { account, reserved, personal_tokens, sessions, started_jobs } = inspected;
    return table(
      ["FIELD", "VALUE"],
      [
        ...Object.entries(account).map(([name, value]) => [name, String(value ?? "")]),
        ["reserved", String(reserved)],
        ["sessions", String(sessions.length)],
        ...personal_tokens.map((it) => ["token", `${it.label} ${it.scopes.join(",")} ${it.id}`]),
        ...started_jobs.map((it) => ["started job", `${it.action} ${it.reserved} ${it.id}`]),
      ],
    );
  });
}

async function showAccountLedger(identity: string, given: Options<LedgerOptions>): Promise<void> {
  const { admin, options, filter } = await adminOf(given);
  printLedger(options, await admin.accountLedger(identity, ledgerFilterOf(filter)));
}

async function showStats(
  given: Options<{ from?: string; to?: string; app?: string }>,
): Promise<void> {
  const { admin, options, filter } = await adminOf(given);
  const stats = await admin.stats(filter);
  print(options, stats, () => {
    const [first] = stats.series;
    if (first === undefined) return "Nothing happened in these days.";
    const names = Object.keys(first).map((name) => name.replaceAll("_", " ").toUpperCase());
    return table(
      names,
      stats.series.map((day) => Object.values(day).map(String)),
    );
  });
}

/** What an act changed, or what was requested if that is unknown. */
function changesOf({ changed, details }: AuditEntry): string {
  const { outcome: _, ...request } = details;
  if (changed === null) return JSON.stringify(request);
  return Object.entries(changed)
    .map(([name, { from, to }]) => `${name}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`)
    .join(", ");
}

type AuditOptions = AuditFilter & { readonly csv?: true };

async function showAudit(given: Options<AuditOptions>): Promise<void> {
  const { admin, options, filter: chosen } = await adminOf(given);
  const { csv = false, ...filter } = chosen;
  if (csv) {
    const { limit: _, cursor: __, ...all } = filter;
    return writePieces(admin.auditCsv(all));
  }
  const page = await admin.audit(filter);
  print(options, page, () => {
    const rows = page.entries.map((it) => [
      it.at,
      it.actor,
      it.act,
      it.subject,
      it.reason ?? "",
      String(it.details["outcome"]),
      changesOf(it),
    ]);
    const names = ["AT", "ACTOR", "ACT", "SUBJECT", "REASON", "OUTCOME", "CHANGED"];
    return rows.length === 0
      ? "Operators did nothing."
      : table(names, rows) + more(page.next_cursor);
  });
}
