/** Options and arguments that several commands take. Usage errors leave with 2. */
import { InvalidArgumentError, Option, type Command } from "commander";
import { ENTRY_KINDS, JOB_STATUSES, type LedgerFilter } from "../client/index.ts";

const PAGE_MAX = 200;

/** Adds what chooses a page of a list. */
export function paged(command: Command): Command {
  return command
    .option("--limit <number>", `1 to ${PAGE_MAX}`, readLimit)
    .option("--cursor <cursor>", "go on where a page ended");
}

/** Adds what chooses jobs of a list. */
export function withJobFilters(command: Command): Command {
  return paged(
    withTimes(
      command
        .option("--app <slug>", "only this app's")
        .addOption(new Option("--status <status>", "only these").choices(JOB_STATUSES)),
    ),
  );
}

function withTimes(command: Command): Command {
  return command
    .option("--from <time>", "from this moment on, such as 2026-11-21T00:00:00Z")
    .option("--to <time>", "before this moment");
}

/** What `withLedgerFilters` gives. */
export interface LedgerOptions extends Omit<LedgerFilter, "jobId" | "from" | "to"> {
  readonly job?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Adds what chooses lines of a ledger. */
export function withLedgerFilters(command: Command): Command {
  return paged(
    withTimes(
      command
        .option("--app <slug>", "only this app's")
        .option("--job <id>", "only this job's")
        .addOption(new Option("--kind <kind>", "only these").choices(ENTRY_KINDS)),
    ),
  );
}

/** The client's filter of those options. */
export function ledgerFilterOf({ job, ...rest }: LedgerOptions): LedgerFilter {
  return { ...rest, ...(job === undefined ? {} : { jobId: job }) };
}

function readLimit(text: string): number {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= PAGE_MAX) return limit;
  throw new InvalidArgumentError(`It is a number from 1 to ${PAGE_MAX}.`);
}

/** A number of credits from 0. @throws InvalidArgumentError */
export function readCredits(text: string): number {
  if (/^\d{1,13}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It is a whole number of credits.");
}

/** Credits to give, or to take where it is negative. @throws InvalidArgumentError */
export function readChange(text: string): number {
  const change = /^-?\d{1,13}$/.test(text) ? Number(text) : 0;
  if (change !== 0) return change;
  throw new InvalidArgumentError("It is a whole number of credits, not 0.");
}
