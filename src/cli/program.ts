/** The commands of `passbook`, with their options. */
import { Command, InvalidArgumentError, Option } from "commander";
import { addAccess } from "./access.ts";
import { addAdmin } from "./admin.ts";
import { addArchive } from "./archive.ts";
import { addTokens } from "./tokens.ts";
import { checkClient } from "./check_client.ts";
import { connect, readBudget, type ConnectOptions } from "./connect.ts";
import { exchange, printToken, withLimits, type ExchangeOptions } from "./exchange.ts";
import { serveDevelopment, type DevOptions } from "./dev.ts";
import { logIn, logOut, type LoginOptions } from "./login.ts";
import { withJobFilters, withLedgerFilters } from "./filters.ts";
import type { GlobalOptions } from "./session.ts";
import { addJobCommands } from "./jobs.ts";
import { runCommand } from "./run.ts";
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
  addDevelopment(program);
  addLists(program);
  addAgents(program);
  addAccess(program);
  addTokens(program);
  addAdmin(program);
  addArchive(program);
  return program;
}

/** The commands that give other programs a token, and check a client. */
function addAgents(program: Command): void {
  program
    .command("token")
    .description("print a valid token of this machine's login, for a script")
    .action((_, command: Command) => printToken(command.optsWithGlobals<GlobalOptions>()));
  withLimits(program.command("exchange"))
    .description("print a narrower token, for an agent or a script")
    .action((_, command: Command) => exchange(command.optsWithGlobals<ExchangeOptions>()));
  withLimits(program.command("run"))
    .argument("<command...>", "the command, after --")
    .description(
      "run a command with a narrower token in PASSBOOK_TOKEN, which is revoked when it ends",
    )
    .usage("[options] -- <command...>")
    .action((words: string[], _, command: Command) =>
      runCommand(words, command.optsWithGlobals<ExchangeOptions>()),
    );
  program
    .command("check-client <address>")
    .description("check the document that describes an OAuth client")
    .action((address: string, _, command: Command) =>
      checkClient(address, command.optsWithGlobals<GlobalOptions>()),
    );
}

function addDevelopment(program: Command): void {
  program
    .command("dev")
    .description("run the whole service on this machine, to develop an app against it")
    .option("--port <number>", "its port; 0 for any free one", readPort, DEVELOPMENT_PORT)
    .option("--strict-apps", "refuse apps that are not registered")
    .addOption(
      new Option("--seed <name>", "begin with apps, their keys, and people").choices(["demo"]),
    )
    .option("--with-parent", "stop when the program that started it ends")
    .action((_, command: Command) => serveDevelopment(command.optsWithGlobals<DevOptions>()));
}

const DEVELOPMENT_PORT = 8787;
const PORT_MAX = 65_535;

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= PORT_MAX) return port;
  throw new InvalidArgumentError(`It must be a whole number from 0 to ${PORT_MAX}.`);
}

function addLists(program: Command): void {
  const jobs = withJobFilters(program.command("jobs"))
    .description("list jobs, newest first")
    .action((_, command: Command) => showJobs(command.optsWithGlobals<JobOptions>()));
  addJobCommands(jobs);
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
