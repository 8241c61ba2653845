/** Options and arguments that several commands share. */
import { InvalidArgumentError, Option, type Command } from "commander";
import { ENTRY_KINDS, JOB_STATUSES, type LedgerFilter } from "../client/index.ts";

const PAGE_MAX = 200;
const STARTED_BY = "only started by this app (slug), connection or token (id)";

/** Adds the options for one page of a list. */
function paged(command: Command): Command {
  return command
    .option("--limit <number>", `1 to ${PAGE_MAX}`, readLimit)
    .option("--cursor <cursor>", "continue after a page");
}

/** Adds the options that filter jobs. */
export function withJobFilters(command: Command): Command {
  return paged(
    withTimes(
      command
        .option("--app <slug>", "only of this app")
        .addOption(
          new Option("--status <status>", "only jobs with this status").choices(JOB_STATUSES),
        )
        .option("--by <id>", STARTED_BY),
    ),
  );
}

/** Adds the options for a period of time. */
function withTimes(command: Command): Command {
  return command
    .option("--from <time>", "from this time on, such as 2026-11-21T00:00:00Z")
    .option("--to <time>", "before this time");
}

/** The options that `withLedgerFilters` adds. */
export interface LedgerOptions extends Omit<LedgerFilter, "jobId" | "from" | "to"> {
  readonly job?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Adds the options that filter ledger entries. */
export function withLedgerFilters(command: Command): Command {
  return paged(
    withTimes(
      command
        .option("--app <slug>", "only of this app")
        .option("--job <id>", "only of this job")
        .option("--by <id>", STARTED_BY)
        .addOption(new Option("--kind <kind>", "only entries of this kind").choices(ENTRY_KINDS)),
    ),
  );
}

/** The client's filter for these options. */
export function ledgerFilterOf({ job, ...rest }: LedgerOptions): LedgerFilter {
  return { ...rest, ...(job === undefined ? {} : { jobId: job }) };
}

function readLimit(text: string): number {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= PAGE_MAX) return limit;
  throw new InvalidArgumentError(`It must be a number from 1 to ${PAGE_MAX}.`);
}
