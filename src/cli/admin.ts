/** `passbook admin …`: operates the service. Its commands need a token with the scope `admin`. */
import { Option, type Command } from "commander";
import { type AuditEntry, type AuditFilter, type AccountFilter } from "../client/index.ts";
import {
  ledgerFilterOf,
  paged,
  withJobFilters,
  withLedgerFilters,
  withTimes,
  type LedgerOptions,
} from "./filters.ts";
import { more, print, table, writePieces } from "./output.ts";
import {
  showMoney,
  showPurchases,
  type MoneyOptions,
  type PurchaseOptions,
} from "./admin_money.ts";
import { showJob, showJobs, type AllJobsFilter } from "./admin_jobs.ts";
import { showHealth } from "./admin_health.ts";
import { addActs } from "./admin_acts.ts";
import { adminOf, type GlobalOptions } from "./session.ts";
import { printLedger } from "./show.ts";

type Options<Filter = object> = GlobalOptions & Filter;

/** Adds the commands to the program. */
export function addAdmin(program: Command): Command {
  const admin = program.command("admin").description("operate the service");
  addLists(admin);
  addActs(admin);
  return admin;
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
    .option("--month <month>", "a month, such as 2026-10: what people owned, and what changed it")
    .addOption(
      new Option("--csv <list>", "write one list as CSV").choices([
        "by_app",
        "revenue",
        "accounts",
        "month",
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
