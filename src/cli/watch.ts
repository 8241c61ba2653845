/** `passbook watch`: the account's changes as they happen, until Ctrl-C. */
import { InvalidArgumentError } from "commander";
import type { AccountEvent } from "../client/index.ts";
import { plain } from "./output.ts";
import { signedIn, type GlobalOptions } from "./session.ts";

export interface WatchOptions extends GlobalOptions {
  readonly after?: number;
}

/** Columns and their widths; a wider cell moves the rest of its own line. */
const COLUMNS = [
  ["AT", 24],
  ["LINE", 6],
  ["KIND", 15],
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
  const { line, kind, credits, reserved } = event;
  const told = kind === "snapshot" ? null : event;
  const job = told?.job ?? null;
  const amount = told === null ? "" : told.amount > 0 ? `+${told.amount}` : String(told.amount);
  const worked = job === null ? "" : `${job.id} ${job.status} ${job.action}`;
  const held = String(reserved);
  return [
    told?.at ?? "",
    String(line),
    kind,
    amount,
    String(credits),
    held,
    told?.app ?? "",
    worked,
  ];
}

function row(cells: readonly string[]): string {
  const padded = cells.map((cell, at) => plain(cell).padEnd(COLUMNS[at]?.[1] ?? 0));
  return padded.join("  ").trimEnd();
}

/** The number of a line. @throws InvalidArgumentError */
export function readLine(text: string): number {
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It is the number of a line.");
}
