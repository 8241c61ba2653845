/** `passbook jobs create`, `complete`, `fail` and `cancel`. */
import { InvalidArgumentError, type Command } from "commander";
import { PassbookError, type SettledJob } from "../client/index.ts";
import { print } from "./output.ts";
import { signedIn, type GlobalOptions } from "./session.ts";

interface CreateOptions extends GlobalOptions {
  readonly app?: string;
  readonly action: string;
  readonly costEstimate: number;
  readonly ttlSeconds?: number;
  readonly approval?: string;
}

interface CompleteOptions extends GlobalOptions {
  readonly actualCost: number;
}

interface FailOptions extends GlobalOptions {
  readonly reason?: string;
  readonly refund: boolean;
  readonly cost?: number;
}

/** Adds the commands that start and end jobs. */
export function addJobCommands(jobs: Command): void {
  jobs
    .command("create")
    .description("start a job: reserves its estimate, and prints its id")
    .option("--app <slug>", "the app that the job belongs to; required")
    .requiredOption("--action <text>", "what the job does; people read it")
    .requiredOption("--cost-estimate <credits>", "the credits to reserve", readWholeNumber)
    .option(
      "--ttl-seconds <seconds>",
      "expires after so many seconds; a day if omitted",
      readWholeNumber,
    )
    .option("--approval <id>", "the approval of a refused job, which the account's holder allowed")
    .action((_, command: Command) => createJob(command.optsWithGlobals<CreateOptions>()));
  jobs
    .command("complete <id>")
    .description("complete a job at its real cost")
    .requiredOption("--actual-cost <credits>", "what the job costs", readWholeNumber)
    .action((id: string, _, command: Command) =>
      completeJob(id, command.optsWithGlobals<CompleteOptions>()),
    );
  jobs
    .command("fail <id>")
    .description("fail a job and refund its reserve")
    .option("--reason <text>", "why it failed, up to 500 characters; shown with the job")
    .option("--cost <credits>", "what the failed job costs, at most its reserve", readWholeNumber)
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
}

function readWholeNumber(text: string): number {
  if (/^\d{1,13}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 0.");
}

async function createJob(options: CreateOptions): Promise<void> {
  const { app, action, costEstimate, ttlSeconds, approval } = options;
  // The list of jobs has an option of this name, so commander cannot require it here.
  if (app === undefined) {
    throw new PassbookError(
      "invalid_argument",
      "Name the app that the job belongs to: --app sketch",
    );
  }
  const created = await (
    await signedIn(options)
  ).jobs.create({
    app,
    action,
    costEstimate,
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
    ...(approval === undefined ? {} : { approval }),
  });
  print(options, created, () => created.job_id);
}

async function completeJob(jobId: string, options: CompleteOptions): Promise<void> {
  const { actualCost } = options;
  const completed = await (await signedIn(options)).jobs.complete({ jobId, actualCost });
  print(options, completed, () => `Completed; ${costText(completed, "charged")}`);
}

async function failJob(jobId: string, options: FailOptions): Promise<void> {
  const { reason, refund, cost } = options;
  const failed = await (
    await signedIn(options)
  ).jobs.fail({
    jobId,
    // `--cost` already says what comes back.
    ...(cost === undefined ? { refund } : { cost }),
    ...(cost !== undefined && !refund ? { refund } : {}),
    ...(reason === undefined ? {} : { reason }),
  });
  print(options, failed, () => `Failed; ${costText(failed, "kept")}`);
}

async function cancelJob(jobId: string, options: GlobalOptions): Promise<void> {
  const cancelled = await (await signedIn(options)).jobs.cancel(jobId);
  print(options, cancelled, () => `Cancelled; ${costText(cancelled, "kept")}`);
}

function costText({ job, credits }: SettledJob, verb: string): string {
  const { actual_cost } = job;
  const cost = actual_cost === 0 ? "nothing was charged" : `${actual_cost} credits were ${verb}`;
  return `${cost}. The balance is ${credits} credits.`;
}
