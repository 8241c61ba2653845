/** What daily totals must be, told from the books of the accounts themselves, in another way than ours. */
import type { Measure } from "../../src/readmodel/line_totals.ts";

export type Sums = Partial<Record<Measure, number>>;

/** A line as the model needs it; `cost` and `status` are its job's. */
export interface ModelLine {
  readonly at_ms: number;
  readonly kind: string;
  readonly amount: number;
  readonly app_slug: string | null;
  readonly job_id: string | null;
}

export interface ModelJob {
  readonly id: string;
  readonly status: string;
  readonly actual_cost: number;
}

/** `day app` to sums; the app "*" is all of them. */
export type Totals = Map<string, Sums & { accounts: Set<string> }>;

/** Adds an account's lines to totals. */
export function addAccount(
  totals: Totals,
  account: string,
  lines: readonly ModelLine[],
  jobs: readonly ModelJob[],
): void {
  const by_id = new Map(jobs.map((job) => [job.id, job]));
  for (const line of lines) {
    const day = new Date(line.at_ms).toISOString().slice(0, 10);
    const job = by_id.get(line.job_id ?? "");
    for (const app of ["*", ...(line.app_slug === null ? [] : [line.app_slug])]) {
      const key = `${day} ${app}`;
      const sums = totals.get(key) ?? { accounts: new Set<string>() };
      totals.set(key, sums);
      sums.accounts.add(account);
      const add = (name: Measure, amount: number) => {
        sums[name] = (sums[name] ?? 0) + amount;
      };
      if (line.kind === "grant") add("granted", line.amount);
      if (line.kind === "reserve") add("reserved", Math.abs(line.amount));
      if (line.kind === "reserve") add("jobs", 1);
      if (line.kind === "settle") add("settled", job?.actual_cost ?? Number.NaN);
      if (line.kind === "settle" && job?.status === "failed") add("failed", 1);
      if (line.kind === "refund") add("refunded", line.amount);
      if (line.kind === "refund") add("failed", 1);
      if (line.kind === "adjustment") add("adjusted", line.amount);
      if (line.kind === "purchase") add("purchased", line.amount);
    }
  }
}

const NOTHING = {
  granted: 0,
  reserved: 0,
  settled: 0,
  refunded: 0,
  purchased: 0,
  adjusted: 0,
  jobs: 0,
  failed: 0,
};

/** The series of an app, or of all ("*"), as the read model would answer it. */
export function seriesOf(totals: Totals, app: string): object[] {
  return [...totals]
    .filter(([key]) => key.endsWith(` ${app}`))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, { accounts, ...sums }]) => ({
      day: key.slice(0, 10),
      ...NOTHING,
      ...sums,
      active_accounts: accounts.size,
    }));
}
