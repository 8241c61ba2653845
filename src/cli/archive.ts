/** `passbook archive verify`: checks downloaded archives of the ledger, without the service and without credentials. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Command } from "commander";
import { PassbookError } from "../client/index.ts";
import {
  proveArchive,
  type ArchivedAccountProof,
  type StoredSegment,
} from "../domain/archive_chain.ts";
import { ARCHIVE_FOLDER, parseSegment, type ArchiveHead } from "../domain/archive_segment.ts";
import { plain, print, table } from "./output.ts";
import type { GlobalOptions } from "./session.ts";

/** The folder of the files that name each account's newest segment, next to the bucket's own folder. */
export const HEADS_FOLDER = "heads";

/** The exit code of a check that found a problem; see `main.ts`. */
const EXIT_PROBLEM = 5;

type VerifyOptions = GlobalOptions & { readonly at?: string };

export function addArchive(program: Command): void {
  program
    .command("archive")
    .description("check a copy of the ledger; needs no service and no login")
    .command("verify <folder>")
    .description("check that a downloaded archive is complete and adds up")
    .option("--at <time>", "show the balances at this time, such as 2026-11-21T00:00:00Z")
    .action((folder: string, _, command: Command) =>
      verify(folder, command.optsWithGlobals<VerifyOptions>()),
    );
}

export interface VerifiedAccount extends ArchivedAccountProof {
  readonly account_id: string;
  readonly ends_with_head: boolean;
}

async function verify(folder: string, { at, ...options }: VerifyOptions): Promise<void> {
  const until_ms = at === undefined ? Number.POSITIVE_INFINITY : Date.parse(at);
  if (Number.isNaN(until_ms)) {
    const message = "--at must be a time such as 2026-11-21T00:00:00Z.";
    throw new PassbookError("invalid_argument", message);
  }
  const accounts: VerifiedAccount[] = [];
  for (const account_id of await accountsIn(folder)) {
    accounts.push(await verifyAccount(folder, account_id, until_ms));
  }
  if (accounts.length === 0) {
    const message = `There is no archive in ${folder}: it must contain the folder ${ARCHIVE_FOLDER}.`;
    throw new PassbookError("invalid_argument", message);
  }
  const is_sound = accounts.every(({ problems }) => problems.length === 0);
  print(options, { ok: is_sound, accounts: accounts.map(viewOf) }, () => reportOf(accounts, at));
  if (!is_sound) process.exitCode = EXIT_PROBLEM;
}

/** Checks one account of a downloaded archive. */
export async function verifyAccount(
  folder: string,
  account_id: string,
  until_ms: number,
): Promise<VerifiedAccount> {
  const head = await headOf(folder, account_id);
  const files = () => segmentsIn(folder, account_id);
  const proof = await proveArchive({ account_id, files, head, until_ms });
  return { account_id, ends_with_head: head !== null, ...proof };
}

/** How many jobs and purchases an account's segments have. */
export async function countArchived(folder: string, account_id: string) {
  const ids = { jobs: new Set<unknown>(), purchases: new Set<unknown>() };
  for await (const { text } of segmentsIn(folder, account_id)) {
    const parsed = parseSegment(text ?? "");
    for (const { table, row } of parsed.ok ? parsed.value.rows : []) {
      if (table === "jobs") ids.jobs.add(row["id"]);
      if (table === "purchases") ids.purchases.add(row["checkout_session_id"]);
    }
  }
  return { jobs: ids.jobs.size, purchases: ids.purchases.size };
}

const timeOrNull = (at_ms: number): string | null =>
  at_ms === 0 ? null : new Date(at_ms).toISOString();

function viewOf({ at_time, newest, ...account }: VerifiedAccount) {
  const { line, credits, held, started_jobs, at_ms } = at_time;
  return {
    ...account,
    entries: newest.line,
    balance: { line, credits, held, started_jobs, at: timeOrNull(at_ms) },
  };
}

function reportOf(accounts: readonly VerifiedAccount[], at: string | undefined): string {
  const rows = accounts.map(({ account_id, identity_id, newest, at_time, segments, problems }) => [
    account_id,
    identity_id ?? "",
    String(segments),
    String(newest.line),
    String(at_time.credits),
    String(at_time.held),
    timeOrNull(at_time.at_ms) ?? "",
    problems.length === 0 ? "sound" : "NOT SOUND",
  ]);
  const names = [
    "account",
    "identity",
    "segments",
    "entries",
    at === undefined ? "credits" : "credits then",
    "held",
    "newest entry",
    "result",
  ];
  const problems = accounts.flatMap((account) =>
    account.problems.map((problem) => plain(`${account.account_id}: ${problem}.`)),
  );
  const restored = accounts.flatMap(({ account_id, undone }) =>
    undone.map(({ first, last, by }) =>
      plain(
        first > last
          ? `${account_id}: entry ${by} restored the account and undid no entry.`
          : `${account_id}: entry ${by} restored the account and undid the entries ${first} to ${last}.`,
      ),
    ),
  );
  const without_head = accounts.filter(({ ends_with_head }) => !ends_with_head).length;
  const note =
    without_head === 0
      ? []
      : [
          `${without_head} of ${accounts.length} accounts have no file in ${HEADS_FOLDER}, so segments that are missing at their end would not be noticed.`,
        ];
  return [table(names, rows), ...problems, ...restored, ...note].join("\n");
}

/** The accounts that have a folder of segments, or a head. */
async function accountsIn(folder: string): Promise<readonly string[]> {
  const named = await namesIn(join(folder, ARCHIVE_FOLDER));
  const heads = (await namesIn(join(folder, HEADS_FOLDER))).flatMap((name) =>
    name.endsWith(".json") ? [name.slice(0, -".json".length)] : [],
  );
  return [...new Set([...named, ...heads])].toSorted();
}

async function* segmentsIn(
  folder: string,
  account_id: string,
): AsyncGenerator<StoredSegment, void, undefined> {
  const own = join(folder, ARCHIVE_FOLDER, account_id);
  for (const name of await namesIn(own)) {
    const bytes = await readFile(join(own, name));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    yield { name, sha256, text: textOf(bytes) };
  }
}

function textOf(bytes: Buffer): string | null {
  try {
    return gunzipSync(bytes).toString("utf8");
  } catch {
    return null;
  }
}

/** The newest segment that the service names; null: unknown. An account without a segment has no line. */
async function headOf(folder: string, account_id: string): Promise<ArchiveHead | null> {
  const file = join(folder, HEADS_FOLDER, `${account_id}.json`);
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  const { head } = JSON.parse(text) as { readonly head?: ArchiveHead | null };
  return head ?? null;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names: readonly string[] = await readdir(folder).catch(() => []);
  return names.toSorted();
}
