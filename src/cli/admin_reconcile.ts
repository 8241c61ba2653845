/** `passbook admin reconcile`: books recent payments, refunds and disputes whose webhook did not arrive. */
import {
  isPassbookError,
  PassbookError,
  type Admin,
  type ReconciledPage,
} from "../client/index.ts";
import { plain, print, table } from "./output.ts";
import { signedIn, type GlobalOptions } from "./session.ts";

export interface ReconcileOptions extends GlobalOptions {
  readonly cursor?: string;
}

/** Compares all recent payments, page by page. */
export async function reconcile({ cursor: from, ...options }: ReconcileOptions): Promise<void> {
  const { admin } = await signedIn(options);
  const sum = {
    checked: 0,
    booked: [] as ReconciledPage["booked"][number][],
    not_booked: [] as ReconciledPage["not_booked"][number][],
  };
  let cursor = from;
  do {
    const page = await reconcilePage(admin, cursor);
    sum.checked += page.checked;
    sum.booked.push(...page.booked);
    sum.not_booked.push(...page.not_booked);
    cursor = page.next_cursor;
    if (options.json !== true) process.stderr.write(`${progress(sum)}\n`);
  } while (cursor !== undefined);
  print(options, sum, () => textOf(sum));
  if (sum.not_booked.length > 0) process.exitCode = 1;
}

function progress({ checked, booked }: ReconciledPage): string {
  return `Checked ${checked} payments, booked ${booked.length} that were missing.`;
}

function textOf(sum: ReconciledPage): string {
  const { booked, not_booked } = sum;
  const rows = booked.map((it) => [
    it.list,
    it.id,
    it.credits === null ? "" : String(it.credits),
    it.identity_id,
  ]);
  return [
    `Done. ${progress(sum)}`,
    ...(rows.length === 0 ? [] : ["", table(["LIST", "ID", "CREDITS", "IDENTITY"], rows)]),
    ...not_booked.map(({ id, code }) => `Not booked: ${plain(id)} (${plain(code)})`),
  ].join("\n");
}

/** @throws PassbookError that says how to continue */
async function reconcilePage(admin: Admin, cursor: string | undefined): Promise<ReconciledPage> {
  try {
    return await admin.reconcilePayments(cursor === undefined ? {} : { cursor });
  } catch (error) {
    if (cursor === undefined || !isPassbookError(error)) throw error;
    const next = `Continue with: passbook admin reconcile --cursor ${cursor}`;
    throw new PassbookError(error.code, `${error.message} ${next}`, { cause: error });
  }
}
