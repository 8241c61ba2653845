/** `passbook watch`: the account's changes as they happen, until Ctrl-C. */
import { InvalidArgumentError } from "commander";
import type { AccountEvent, Job } from "../client/index.ts";
import { plain } from "./output.ts";
import { signedIn, type GlobalOptions } from "./session.ts";

export interface WatchOptions extends GlobalOptions {
  readonly after?: number;
}

/** Columns and their widths. A wider cell shifts the rest of its row. */
const COLUMNS = [
  ["AT", 24],
  ["LINE", 6],
  ["KIND", 24],
  ["AMOUNT", 8],
  ["CREDITS", 8],
  ["HELD", 6],
  ["APP", 12],
  ["JOB", 0],
] as const;

export async function watch({ after, ...options }: WatchOptions): Promise<void> {
  const client = await signedIn(options);
  const stop = new AbortController();
  const end = (): void => stop.abort();
  process.once("SIGINT", end).once("SIGTERM", end);
  try {
    if (options.json !== true) write(row(COLUMNS.map(([name]) => name)));
    for await (const event of client.events({ after, signal: stop.signal })) {
      write(options.json === true ? JSON.stringify(event) : row(cellsOf(event)));
    }
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

function cellsOf(event: AccountEvent): string[] {
  if (!("line" in event)) return [event.at, "", event.kind, "", "", "", ...aboutOf(event)];
  const { line, kind, credits, held } = event;
  const entry = kind === "snapshot" ? null : event;
  const job = entry?.job ?? null;
  const amount = entry === null ? "" : entry.amount > 0 ? `+${entry.amount}` : String(entry.amount);
  const job_text = job === null ? "" : `${job.id} ${job.status} ${job.action}`;
  return [
    entry?.at ?? "",
    String(line),
    kind,
    amount,
    String(credits),
    String(held),
    entry?.app ?? "",
    job_text,
  ];
}

/** The app, and what the event is about. */
function aboutOf(event: Exclude<AccountEvent, { readonly line: number }>): [string, string] {
  switch (event.kind) {
    case "job.progressed":
      return [event.job.app_slug ?? "", progressOf(event.job)];
    case "approval.approved":
    case "approval.denied":
      return [event.app, `${event.action} (at most ${event.credits})`];
    case "connection.revoked":
      return ["", `${event.connection.client_id}, by ${event.by}`];
    case "connection.limit_reached":
      return ["", `${event.connection.client_id}: ${event.cap.credits} ${event.cap.period}`];
    case "access.stopped":
    case "access.allowed":
      return [event.app, ""];
  }
}

function progressOf({ id, action, done, message }: Job): string {
  const percent = done === null ? "" : ` ${Math.floor(done * 100)}%`;
  return `${id} ${action}${percent}${message === null ? "" : ` ${message}`}`;
}

function row(cells: readonly string[]): string {
  const padded = cells.map((cell, at) => plain(cell).padEnd(COLUMNS[at]?.[1] ?? 0));
  return padded.join("  ").trimEnd();
}

/** Parses the number of an entry. @throws InvalidArgumentError */
export function readEntryNumber(text: string): number {
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be the number of a ledger entry.");
}
