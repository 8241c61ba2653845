/** The commands of `passbook`, with their options. */
import { Command } from "commander";
import { addAccess } from "./access.ts";
import { addAdmin } from "./admin.ts";
import { addArchive } from "./archive.ts";
import { addTokens } from "./tokens.ts";
import { connect, readBudget, type ConnectOptions } from "./connect.ts";
import { logIn, logOut, type LoginOptions } from "./login.ts";
import { withJobFilters, withLedgerFilters } from "./filters.ts";
import type { GlobalOptions } from "./session.ts";
import { cancelJob, failJob, type FailOptions } from "./jobs.ts";
import {
  showJob,
  showJobs,
  showLedger,
  showMe,
  showWallet,
  type JobOptions,
  type OwnLedgerOptions,
} from "./show.ts";
import { readEntryNumber, watch, type WatchOptions } from "./watch.ts";

/** Builds the program. With `json` it prints no usage errors: the caller prints them as JSON. */
export function createProgram(version: string, { json }: { readonly json: boolean }): Command {
  const program = new Command("passbook")
    .description("Your account, credits and jobs, from the command line.")
    .version(version)
    .option("--json", "print JSON")
    .option(
      "--url <origin>",
      "the service's address (default: PASSBOOK_URL, or the address of your login)",
    )
    .configureOutput(json ? { writeErr: () => {} } : {})
    .showHelpAfterError("Run with --help to see the commands and options.")
    .exitOverride();

  program
    .command("login")
    .description("sign in by approving a code in the browser")
    .option("--name <name>", "the name of the token")
    .option("--no-browser", "do not open a browser")
    .option("--admin", "for operators: also check that the token may operate the service")
    .action((_, command: Command) => logIn(command.optsWithGlobals<LoginOptions>()));
  program
    .command("connect")
    .description("connect an agent or a script on this machine, with a budget, through the browser")
    .option("--budget <cap>", "the most it may spend, such as 50/month; repeatable", readBudget)
    .option("--app <slug...>", "only these apps")
    .option("--read-only", "only reading")
    .option("--no-browser", "do not open a browser")
    .action((_, command: Command) => connect(command.optsWithGlobals<ConnectOptions>()));
  program
    .command("logout")
    .description("revoke the token and delete it from this machine")
    .action((_, command: Command) => logOut(command.optsWithGlobals<GlobalOptions>()));
  program
    .command("whoami")
    .description("show who is signed in")
    .action((_, command: Command) => showMe(command.optsWithGlobals<GlobalOptions>()));
  program
    .command("wallet")
    .description("show the balance and the apps")
    .option("--app <slug>", "open the account for an app, which grants its starter credits once")
    .action((_, command: Command) => showWallet(command.optsWithGlobals()));
  addLists(program);
  addAccess(program);
  addTokens(program);
  addAdmin(program);
  addArchive(program);
  return program;
}

function addLists(program: Command): void {
  const jobs = withJobFilters(program.command("jobs"))
    .description("list jobs, newest first")
    .action((_, command: Command) => showJobs(command.optsWithGlobals<JobOptions>()));
  jobs
    .command("fail <id>")
    .description("fail a job and refund its reserve")
    .option("--reason <text>", "why it failed, up to 500 characters; shown with the job")
    .option("--no-refund", "keep the reserve as the job's cost")
    .action((id: string, _, command: Command) =>
      failJob(id, command.optsWithGlobals<FailOptions>()),
    );
  jobs
    .command("cancel <id>")
    .description(
      "expire a started job of any app; needs your own session token, not a personal access token",
    )
    .action((id: string, _, command: Command) =>
      cancelJob(id, command.optsWithGlobals<GlobalOptions>()),
    );
  program
    .command("job <id>")
    .description("show one job")
    .action((id: string, _, command: Command) =>
      showJob(id, command.optsWithGlobals<GlobalOptions>()),
    );
  withLedgerFilters(program.command("ledger"))
    .description("list every change of the balance, newest first")
    .action((_, command: Command) => showLedger(command.optsWithGlobals<OwnLedgerOptions>()));
  program
    .command("watch")
    .description("show every change of the balance as it happens, until Ctrl-C")
    .option("--after <line>", "begin after the entry with this number", readEntryNumber)
    .action((_, command: Command) => watch(command.optsWithGlobals<WatchOptions>()));
}
