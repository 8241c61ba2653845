/** `passbook admin directory copy` and `passbook admin rebuild-directory`: the second copy of apps and people. */
import type { Command } from "commander";
import type { RebuiltDirectory } from "../client/index.ts";
import { count, pagesOfRun } from "./admin_combinations.ts";
import { plain, print } from "./output.ts";
import { adminOf, type GlobalOptions } from "./session.ts";

interface RunOptions extends GlobalOptions {
  readonly cursor?: string;
  readonly copy?: string;
}

interface Page {
  readonly cursor?: string | undefined;
}

/** What a person must do about each kind of decision. */
const ADVICE: Readonly<Record<RebuiltDirectory["decide"][number]["why"], string>> = {
  newer_record: "the directory has another version, which stays. Compare it with your records",
  page_missing: "this file of the copy is missing. Use an older copy with --copy too",
  page_damaged: "this file of the copy was changed. Use an older copy with --copy too",
  person_taken: "another person has a sign-in method of this one. Move the credits by hand",
  person_unreadable: "put the missing key back into ENCRYPTION_KEYS, and run this again",
};

export function addDirectory(admin: Command): void {
  admin
    .command("directory")
    .description("the second copy of apps and people")
    .command("copy")
    .description("copy the directory to the archive at once, as the schedule does each day")
    .action((_, command: Command) => copy(command.optsWithGlobals()));
  admin
    .command("rebuild-directory")
    .description("restore from the archive what a lost directory had")
    .option("--copy <id>", "this copy instead of the newest")
    .option("--cursor <cursor>", "continue a run that broke off")
    .action((_, command: Command) => rebuild(command.optsWithGlobals()));
}

async function copy(given: GlobalOptions): Promise<void> {
  const { admin } = await adminOf(given);
  const sum = { copy: "", rows: 0, people: 0 };
  const progress = (): string => `Copied ${count(sum.rows)} rows.`;
  const read = (page: Page) => admin.copyDirectory(page);
  for await (const page of pagesOfRun(given, "directory copy", read, progress)) {
    sum.copy = page.copy;
    sum.rows = Math.max(sum.rows, page.rows);
    sum.people += page.people;
  }
  const people = sum.people === 0 ? "" : ` ${count(sum.people)} changes of people waited.`;
  print(given, sum, () => `Done. ${progress()}${people} The copy is ${plain(sum.copy)}.`);
}

async function rebuild(given: RunOptions): Promise<void> {
  const { admin, own } = await adminOf(given);
  const tables = new Map<string, { restored: number; known: number }>();
  const decide: RebuiltDirectory["decide"][number][] = [];
  let from: RebuiltDirectory["copy"] = null;
  const rows = (): number => [...tables.values()].reduce((sum, { restored }) => sum + restored, 0);
  const progress = (): string => `Restored ${count(rows())} rows.`;
  const read = (page: Page) => admin.rebuildDirectory({ ...page, copy: own.copy });
  for await (const page of pagesOfRun(given, "rebuild-directory", read, progress)) {
    const { restored = 0, known = 0 } = tables.get(page.table) ?? {};
    tables.set(page.table, { restored: restored + page.restored, known: known + page.known });
    decide.push(...page.decide);
    from = page.copy;
  }
  const result = { copy: from, tables: Object.fromEntries(tables), decide };
  print(given, result, () =>
    [
      ...[...tables]
        .filter(([, { restored, known }]) => restored + known > 0)
        .map(
          ([table, it]) =>
            `${plain(table)}: ${count(it.restored)} restored, ${count(it.known)} known`,
        ),
      ...decide.map(({ why, subject }) => `Decide: ${plain(subject)}: ${ADVICE[why]}.`),
      copyText(from),
      `Done. ${progress()} A person must decide ${count(decide.length)} times.`,
    ].join("\n"),
  );
}

function copyText(from: RebuiltDirectory["copy"]): string {
  if (from === null)
    return "The archive has no complete copy of apps, so only people are restored.";
  const { id, completed_at } = from;
  return `The copy is ${plain(id)}, of ${plain(completed_at)}. Repeat what operators changed since: revoke keys, save apps.`;
}
