/** `passbook admin rebuild`: writes one account to the read model again, or repairs all accounts there. */
import { isPassbookError, PassbookError, type Admin, type RepairedPage } from "../client/index.ts";
import { plain, print } from "./output.ts";
import { signedIn, type GlobalOptions } from "./session.ts";

export interface RebuildOptions extends GlobalOptions {
  readonly all?: true;
  readonly cursor?: string;
}

/** The shortest time between two lines of progress. */
const PROGRESS_MS = 1_000;

export async function rebuild(
  identity: string | undefined,
  { all, cursor, ...options }: RebuildOptions,
): Promise<void> {
  const is_all = all === true;
  if (is_all === (identity !== undefined) || (cursor !== undefined && !is_all)) {
    const message = "Name one identity, or use --all. --cursor needs --all.";
    throw new PassbookError("invalid_argument", message);
  }
  const { admin } = await signedIn(options);
  if (identity === undefined) return rebuildAll(admin, options, cursor);
  await admin.rebuild(identity);
  print(options, { ok: true }, () => "Done.");
}

/** Repairs every account, page by page. */
async function rebuildAll(
  admin: Admin,
  options: GlobalOptions,
  from: string | undefined,
): Promise<void> {
  const sum = { checked: 0, repaired: 0, failed: [] as string[] };
  let [people, cursor, shown_ms] = [undefined as number | undefined, from, 0];
  do {
    const page = await rebuildPage(admin, cursor);
    people ??= page.people;
    sum.checked += page.checked;
    sum.repaired += page.repaired;
    sum.failed.push(...page.failed);
    cursor = page.next_cursor;
    if (options.json === true || Date.now() - shown_ms < PROGRESS_MS) continue;
    shown_ms = Date.now();
    process.stderr.write(`${progress(sum, people)}\n`);
  } while (cursor !== undefined);
  print(options, sum, () =>
    [
      `Done. ${progress(sum, people)}`,
      ...sum.failed.map((identity) => `Not repaired: ${plain(identity)}`),
    ].join("\n"),
  );
  if (sum.failed.length > 0) process.exitCode = 1;
}

/** @throws PassbookError that says how to continue */
async function rebuildPage(admin: Admin, cursor: string | undefined): Promise<RepairedPage> {
  try {
    return await admin.rebuildPage(cursor === undefined ? {} : { cursor });
  } catch (error) {
    if (cursor === undefined || !isPassbookError(error)) throw error;
    const next = `Continue with: passbook admin rebuild --all --cursor ${cursor}`;
    throw new PassbookError(error.code, `${error.message} ${next}`, { cause: error });
  }
}

function progress(
  { checked, repaired }: { readonly checked: number; readonly repaired: number },
  people: number | undefined,
): string {
  const of = people === undefined ? "" : ` of ${count(people)}`;
  return `Checked ${count(checked)}${of}, repaired ${count(repaired)}.`;
}

function count(value: number): string {
  return value.toLocaleString("en-GB");
}
