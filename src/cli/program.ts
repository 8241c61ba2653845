/** The commands of `passbook`, and what they take. */
import { Command } from "commander";
import { addAdmin } from "./admin.ts";
import { addAdminApps } from "./admin_apps.ts";
import { logIn, logOut, type LoginOptions } from "./login.ts";
import { withJobFilters, withLedgerFilters } from "./filters.ts";
import type { GlobalOptions } from "./session.ts";
import { cancelJob, failJob, type FailOptions } from "./jobs.ts";
import {
  revokePersonalToken,
  showJob,
  showJobs,
  showLedger,
  showMe,
  showTokens,
  showWallet,
  type JobOptions,
  type OwnLedgerOptions,
} from "./show.ts";
import { readLine, watch, type WatchOptions } from "./watch.ts";

/** Builds the program. Usage errors leave with 2; with `json` their words are the caller's to print. */
export function createProgram(version: string, { json }: { readonly json: boolean }): Command {
  const program = new Command("passbook")
    .description("Your account, credits and jobs, from the command line.")
    .version(version)
    .option("--json", "print JSON")
    .option("--url <origin>", "the service's address (or PASSBOOK_URL, or where you signed in)")
    .configureOutput(json ? { writeErr: () => {} } : {})
    .showHelpAfterError("Run with --help to see what there is.")
    .exitOverride();

  program
    .command("login")
    .description("sign in: approve a code in the browser")
    .option("--name <name>", "what the token is called")
    .option("--no-browser", "do not open a browser")
    .option("--admin", "for operators: check that the token may operate the service")
    .action((_, command: Command) => logIn(command.optsWithGlobals<LoginOptions>()));
  program
    .command("logout")
    .description("revoke the token, and forget it on this machine in any case")
    .action((_, command: Command) => logOut(command.optsWithGlobals<GlobalOptions>()));
  program
    .command("whoami")
    .description("who is signed in")
    .action((_, command: Command) => showMe(command.optsWithGlobals<GlobalOptions>()));
  program
    .command("wallet")
    .description("the balance and the apps")
    .option("--app <slug>", "open the account for an app: its starter credits come once")
    .action((_, command: Command) => showWallet(command.optsWithGlobals()));
  addLists(program);
  const tokens = program
    .command("tokens")
    .description("personal access tokens")
    .action((_, command: Command) => showTokens(command.optsWithGlobals<GlobalOptions>()));
  tokens
    .command("revoke <id>")
    .description("end a token at once")
    .action((id: string, _, command: Command) =>
      revokePersonalToken(id, command.optsWithGlobals<GlobalOptions>()),
    );
  addAdminApps(addAdmin(program));
  return program;
}

function addLists(program: Command): void {
  const jobs = withJobFilters(program.command("jobs"))
    .description("jobs, newest first")
    .action((_, command: Command) => showJobs(command.optsWithGlobals<JobOptions>()));
  jobs
    .command("fail <id>")
    .description("end a job without a result: its reserve comes back")
    .option("--reason <text>", "why, up to 500 characters; shown with the job")
    .option("--no-refund", "keep the reserve as the job's cost")
    .action((id: string, _, command: Command) =>
      failJob(id, command.optsWithGlobals<FailOptions>()),
    );
  jobs
    .command("cancel <id>")
    .description("expire a started job of any app now; needs your own session, not a token")
    .action((id: string, _, command: Command) =>
      cancelJob(id, command.optsWithGlobals<GlobalOptions>()),
    );
  program
    .command("job <id>")
    .description("one job")
    .action((id: string, _, command: Command) =>
      showJob(id, command.optsWithGlobals<GlobalOptions>()),
    );
  withLedgerFilters(program.command("ledger"))
    .description("every change of the balance, newest first")
    .action((_, command: Command) => showLedger(command.optsWithGlobals<OwnLedgerOptions>()));
  program
    .command("watch")
    .description("every change of the balance as it happens, until Ctrl-C")
    .option("--after <line>", "begin with the line after this one", readLine)
    .action((_, command: Command) => watch(command.optsWithGlobals<WatchOptions>()));
}
