/** The expected daily totals, computed from the accounts' ledgers in another way than the code. */
import type { Measure } from "../../../src/readmodel/line_totals.ts";

export type Sums = Partial<Record<Measure, number>>;

/** An entry as the model needs it, and its job below. */
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
}

/** `day app` to sums; the app "*" is all of them. */
export type Totals = Map<string, Sums & { accounts: Set<string> }>;

/** Adds an account's entries to the totals. */
export function addAccount(
  totals: Totals,
  account: string,
  lines: readonly ModelLine[],
  jobs: readonly ModelJob[],
): void {
  const by_id = new Map(jobs.map((job) => [job.id, job]));
  const settling = lines.filter(({ kind }) => kind !== "job_refund");
  const last_of_job = new Map(settling.map((line) => [line.job_id, line]));
  /** The credits that each job has taken, and how many of them were counted as settled. */
  const taken = new Map<string | null, number>();
  const settled = new Map<string | null, number>();
  for (const line of lines) {
    const day = new Date(line.at_ms).toISOString().slice(0, 10);
    const failed_here =
      last_of_job.get(line.job_id) !== line || by_id.get(line.job_id ?? "")?.status === "failed";
    const cost = (taken.get(line.job_id) ?? 0) - line.amount;
    const settled_before = settled.get(line.job_id) ?? 0;
    taken.set(line.job_id, cost);
    if (line.kind === "settle") settled.set(line.job_id, cost);
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
      if (line.kind === "settle") add("settled", cost - settled_before);
      if (line.kind === "settle" && failed_here) add("failed", 1);
      if (line.kind === "refund") add("refunded", line.amount);
      if (line.kind === "refund") add("failed", 1);
      if (line.kind === "job_refund") add("refunded", line.amount);
      if (line.kind === "job_refund") add("job_refunded", line.amount);
      if (line.kind === "adjustment") add("adjusted", line.amount);
      if (line.kind === "purchase") add("purchased", line.amount);
      if (line.kind === "purchase_refund") add("taken_back", line.amount);
      if (line.kind === "expire") add("expired", line.amount);
      if (line.kind === "debt") add("forfeited", line.amount);
    }
  }
}

const NOTHING = {
  expired: 0,
  granted: 0,
  reserved: 0,
  settled: 0,
  refunded: 0,
  job_refunded: 0,
  purchased: 0,
  adjusted: 0,
  taken_back: 0,
  forfeited: 0,
  jobs: 0,
  failed: 0,
};

/** The series of an app, or of all ("*"), as the read model returns it. */
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
