/** The commands of `passbook admin` that change something, or read what only a reason opens. */
import { Option, type Command } from "commander";
import type { Admin, SuspendedAccounts } from "../client/index.ts";
import { rebuild, type RebuildOptions } from "./admin_rebuild.ts";
import { reconcile, type ReconcileOptions } from "./admin_reconcile.ts";
import { readChange, readCredits } from "./filters.ts";
import { plain, print } from "./output.ts";
import { adminOf, type GlobalOptions } from "./session.ts";

interface Reason {
  readonly reason: string;
  readonly key?: string;
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

export function addActs(admin: Command): void {
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
      const { admin: it, filter } = await adminOf(
        command.optsWithGlobals<GlobalOptions & Reason>(),
      );
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
  const { admin, options, filter } = await adminOf(
    command.optsWithGlobals<GlobalOptions & Reason>(),
  );
  const key = filter.key === undefined ? {} : { idempotencyKey: filter.key };
  const { response, text } = await work(admin, { reason: filter.reason, key });
  print(options, response, () => text.split("\n").map(plain).join("\n"));
}
