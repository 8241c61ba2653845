/** `passbook admin archive`: fetches the archive of the ledger as files, and has accounts write to it. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { pagesOf, type AdminCalls } from "../client/admin/index.ts";
import { PassbookError, type AccountArchive } from "../client/index.ts";
import { accountFolder, rangeOfName } from "../domain/archive_segment.ts";
import { HEADS_FOLDER } from "./archive.ts";
import { plain, print } from "./output.ts";
import { adminOf, type GlobalOptions } from "./session.ts";

type DownloadOptions = GlobalOptions & { readonly all?: true };

/** An account id, which becomes the name of a folder. */
const ACCOUNT_ID = /^[0-9a-f-]{36}$/;

/** How often, and how long, the command waits for an account to write. */
const WAIT_MS = 500;
const WAITS_MAX = 120;

export function addAdminArchive(admin: Command): void {
  const archive = admin.command("archive").description("the second copy of the ledger");
  archive
    .command("download <names...>")
    .usage("<identity> <folder> | --all <folder>")
    .description("fetch an account's archive, or all, as files for: passbook archive verify")
    .option("--all", "of every account in the read model")
    .action((names: readonly string[], _, command: Command) =>
      download(names, command.optsWithGlobals<DownloadOptions>()),
    );
  archive
    .command("now [identity]")
    .description("write an account to the archive at once, or all accounts")
    .action((identity: string | undefined, _, command: Command) =>
      writeNow(identity, command.optsWithGlobals<GlobalOptions>()),
    );
}

async function download(names: readonly string[], given: DownloadOptions): Promise<void> {
  const is_all = given.all === true;
  const [folder, identity] = is_all ? names : names.toReversed();
  if (folder === undefined || names.length !== (is_all ? 1 : 2)) {
    const message = "Name an identity and a folder, or use --all with a folder.";
    throw new PassbookError("invalid_argument", message);
  }
  const { admin, options } = await adminOf(given);
  const sum = { accounts: 0, segments: 0 };
  const fetchOne = async (who: string): Promise<void> => {
    sum.segments += await fetchArchive(admin, who, folder);
    sum.accounts += 1;
    if (is_all && !options.json) process.stderr.write(`Fetched ${sum.accounts}.\n`);
  };
  if (identity === undefined) {
    for await (const { heads } of pagesOf((page) => admin.listArchiveHeads(page))) {
      for (const { identity_id } of heads) await fetchOne(identity_id);
    }
  } else await fetchOne(identity);
  print(options, sum, () =>
    [
      `Fetched ${sum.segments} segments of ${sum.accounts} accounts.`,
      `Check them with: passbook archive verify ${plain(folder)}`,
    ].join("\n"),
  );
}

/** Writes an account's files. @returns how many segments there are */
export async function fetchArchive(
  admin: AdminCalls,
  identity: string,
  folder: string,
): Promise<number> {
  const pages: AccountArchive[] = [];
  for await (const page of pagesOf((next) => admin.readAccountArchive(identity, next))) {
    pages.push(page);
  }
  // The last page has the newest head: an account may write a segment meanwhile.
  const { account_id = "", identity_id = "", head = null } = pages.at(-1) ?? {};
  if (!ACCOUNT_ID.test(account_id))
    throw new PassbookError("invalid_response", "The account has no valid id.");
  const own = join(folder, accountFolder(account_id));
  await mkdir(own, { recursive: true });
  const segments = pages.flatMap((page) => page.segments);
  for (const name of segments) {
    const range = rangeOfName(name);
    // What the account wrote after its head was read is not part of this copy.
    if (range === null || range.last > (head?.line ?? 0)) continue;
    const { content } = await admin.readArchiveSegment(identity, name);
    await writeFile(join(own, name), Buffer.from(content, "base64url"));
  }
  await mkdir(join(folder, HEADS_FOLDER), { recursive: true });
  const text = JSON.stringify({ account_id, identity_id, head });
  await writeFile(join(folder, HEADS_FOLDER, `${account_id}.json`), `${text}\n`);
  return segments.length;
}

async function writeNow(identity: string | undefined, given: GlobalOptions): Promise<void> {
  const { admin, options } = await adminOf(given);
  if (identity === undefined) return writeAll(admin, options);
  const { line } = await admin.readAccountArchive(identity);
  await admin.archiveAccount(identity);
  for (let left = WAITS_MAX; left > 0; left -= 1) {
    const { head } = await admin.readAccountArchive(identity);
    if ((head?.line ?? 0) >= line) {
      return print(options, { ok: true, head }, () => `The archive has the entries 1 to ${line}.`);
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  const message =
    "The account has not written for a minute. See archive_failing in: passbook admin health";
  throw new Error(message);
}

async function writeAll(admin: AdminCalls, options: GlobalOptions): Promise<void> {
  const sum = { requested: 0, failed: [] as string[] };
  for await (const page of pagesOf((next) => admin.archiveAccounts(next))) {
    sum.requested += page.requested;
    sum.failed.push(...page.failed);
  }
  const lines = sum.failed.map((who) => `No response: ${plain(who)}`);
  const done = `${sum.requested - sum.failed.length} accounts write to the archive within seconds.`;
  print(options, sum, () => [done, ...lines].join("\n"));
  if (sum.failed.length > 0) process.exitCode = 1;
}
