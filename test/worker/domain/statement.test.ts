import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  entriesFrom,
  kindsOf,
  ownedAfter,
  type LinkedEntry,
  STATEMENT_GROUPS,
  statementRows,
  type StatementRowPage,
} from "../../../src/domain/statement.ts";
import { ENTRY_KINDS, isListed } from "../../../src/domain/ledger.ts";

interface Entry extends LinkedEntry {
  readonly balance_after: number;
  readonly reserved_after: number;
}

/** Each step is an entry: of no job, or of one of a few jobs; with any change of the balance and the held credits. */
const step = fc.record({
  job: fc.option(fc.nat({ max: 6 }), { freq: 3 }),
  amount: fc.integer({ min: -9, max: 9 }),
  held: fc.integer({ min: -9, max: 9 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function ledgerOf(steps: readonly Step[]): readonly Entry[] {
  const newest = new Map<string, number>();
  let [balance_after, reserved_after] = [0, 0];
  return steps.map(({ job, amount, held }, index) => {
    balance_after += amount;
    reserved_after += held;
    const line = index + 1;
    const job_id = job === null ? null : `job-${job}`;
    const previous_line = job_id === null ? null : (newest.get(job_id) ?? null);
    if (job_id !== null) newest.set(job_id, line);
    // A job's entry without credits is a report of progress.
    const moves = amount !== 0 || held !== 0;
    const kind = job_id === null ? "adjustment" : moves ? "settle" : "reserve";
    return { line, kind, amount, job_id, previous_line, balance_after, reserved_after };
  });
}

function sourceOf(ledger: readonly Entry[], matches: (entry: Entry) => boolean = () => true) {
  return {
    read: (first: number, end: number, count: number) =>
      ledger
        .filter((entry) => entry.line >= first && entry.line < end && isListed(entry))
        .filter(matches)
        .toReversed()
        .slice(0, count),
    readEntry: (line: number) => ledger[line - 1] ?? null,
    newestOf: (job_id: string) =>
      ledger.findLast((entry) => entry.job_id === job_id && isListed(entry))?.line ?? null,
  };
}

/** All rows of a period, read page by page. */
function allRows(
  source: ReturnType<typeof sourceOf>,
  period: { readonly first: number; readonly end: number },
  page: { readonly limit: number; readonly scan_max: number; readonly read_max: number },
): (readonly Entry[])[] {
  const rows: (readonly Entry[])[] = [];
  for (let below: number | null = period.end; below !== null;) {
    const read: StatementRowPage<Entry> = statementRows(source, { ...period, below, ...page });
    expect(read.rows.length).toBeLessThanOrEqual(page.limit);
    expect(read.next ?? 0).toBeLessThan(below);
    rows.push(...read.rows);
    below = read.next;
  }
  return rows;
}

const changeOf = (ledger: readonly Entry[], row: readonly Entry[]): number =>
  row.reduce(
    (sum, entry) => sum + ownedAfter(entry) - ownedAfter(ledger[entry.line - 2] ?? null),
    0,
  );

const history = fc.record({
  steps: fc.array(step, { maxLength: 60 }),
  cuts: fc.array(fc.nat({ max: 61 }), { maxLength: 4 }),
  limit: fc.integer({ min: 1, max: 9 }),
  scan_max: fc.integer({ min: 1, max: 40 }),
  read_max: fc.integer({ min: 1, max: 40 }),
});

function periodsOf(lines: number, cuts: readonly number[]) {
  const bounds = [1, ...cuts.map((cut) => Math.min(cut, lines) + 1), lines + 1].toSorted(
    (one, other) => one - other,
  );
  return bounds.slice(1).map((end, at) => ({ first: bounds[at] ?? 1, end }));
}

describe("the rows of a statement", () => {
  it("the changes of a period's rows add up to the change of what the holder owns, in any history", () => {
    fc.assert(
      fc.property(history, ({ steps, cuts, ...page }) => {
        const ledger = ledgerOf(steps);
        for (const { first, end } of periodsOf(ledger.length, cuts)) {
          const rows = allRows(sourceOf(ledger), { first, end }, page);
          const before = ownedAfter(ledger[first - 2] ?? null);
          const after = ownedAfter(ledger[end - 2] ?? null);
          const sum = rows.reduce((total, row) => total + changeOf(ledger, row), 0);
          expect(sum).toBe(after - before);
        }
      }),
    );
  });

  it("each job has one row in a period, with all of its listed entries there, at the newest one", () => {
    fc.assert(
      fc.property(history, ({ steps, cuts, ...page }) => {
        const ledger = ledgerOf(steps);
        for (const { first, end } of periodsOf(ledger.length, cuts)) {
          const rows = allRows(sourceOf(ledger), { first, end }, page);
          const inside = ledger
            .filter((entry) => entry.line >= first && entry.line < end && isListed(entry))
            .toReversed();
          const groups = Map.groupBy(inside, ({ job_id, line }) => job_id ?? line);
          expect(rows).toEqual([...groups.values()]);
        }
      }),
    );
  });

  it("a statement of some jobs has the same rows for them as the whole statement", () => {
    fc.assert(
      fc.property(history, ({ steps, ...page }) => {
        const ledger = ledgerOf(steps);
        const period = { first: 1, end: ledger.length + 1 };
        const chosen = ({ job_id }: Entry): boolean => job_id === "job-1" || job_id === "job-2";
        const all = allRows(sourceOf(ledger), period, page);
        const some = allRows(sourceOf(ledger, chosen), period, page);
        expect(some).toEqual(all.filter(([newest]) => newest !== undefined && chosen(newest)));
      }),
    );
  });

  it("a page that is exactly full has no next page if no row follows", () => {
    const ledger = ledgerOf([
      { job: 1, amount: -5, held: 5 },
      { job: 1, amount: 2, held: -5 },
    ]);
    const page = { first: 1, end: 3, below: 3, limit: 1, scan_max: 100, read_max: 100 };
    expect(statementRows(sourceOf(ledger), page)).toMatchObject({
      rows: [[{ line: 2 }, { line: 1 }]],
      next: null,
    });
  });

  it("the holder owns the balance with what jobs hold, and nothing before the first entry", () => {
    expect(ownedAfter({ balance_after: 7, reserved_after: 3 })).toBe(10);
    expect(ownedAfter(null)).toBe(0);
  });

  it("a page reads as many portions as it may, and goes on after the last one", () => {
    // The newest 250 entries are of one job, which is one row.
    const ledger = ledgerOf([
      ...Array.from({ length: 50 }, () => ({ job: null, amount: 1, held: 0 })),
      ...Array.from({ length: 250 }, () => ({ job: 1, amount: 1, held: 0 })),
    ]);
    const source = sourceOf(ledger);
    let reads = 0;
    const counted = {
      ...source,
      read: (first: number, end: number, count: number) => {
        reads += 1;
        return source.read(first, end, count);
      },
    };
    const page = { first: 1, end: 301, below: 301, limit: 100, scan_max: 1_000, read_max: 200 };
    const { rows, next } = statementRows(counted, page);
    expect([rows.length, next, reads]).toEqual([1, 101, 2]);
    const one_more = statementRows(counted, { ...page, read_max: 201 });
    expect([one_more.rows.length, one_more.next, reads]).toEqual([51, null, 5]);
    const few = statementRows(counted, { ...page, scan_max: 100 });
    expect([few.next, reads]).toEqual([201, 6]);
  });

  it("an entry that its job does not have any more is a row of its own, and so is one of an unknown job", () => {
    const ledger = ledgerOf([1, 1, 1].map((job) => ({ job, amount: 1, held: 0 })));
    const restored = ledger.map((it) => (it.line === 3 ? { ...it, previous_line: 1 } : it));
    const page = { first: 1, end: 4, below: 4, limit: 9, scan_max: 100, read_max: 100 };
    const linesOf = (read: StatementRowPage<Entry>) =>
      read.rows.map((row) => row.map(({ line }) => line));
    expect(linesOf(statementRows(sourceOf(restored), page))).toEqual([[3, 1], [2]]);
    const unknown = { ...sourceOf(ledger), newestOf: () => null };
    expect(linesOf(statementRows(unknown, page))).toEqual([[3], [2], [1]]);
  });

  it("a job's entries are read once for all of its rows, and end where one is missing", () => {
    const ledger = ledgerOf([1, 1, 1, 1].map((job) => ({ job, amount: 1, held: 0 })));
    const source = sourceOf(ledger);
    const read: number[] = [];
    const readEntry = (line: number) => {
      read.push(line);
      return line < 2 ? null : source.readEntry(line);
    };
    expect(entriesFrom({ readEntry }, 4).map(({ line }) => line)).toEqual([4, 3, 2]);
    read.length = 0;
    const page = { first: 2, end: 5, below: 5, limit: 9, scan_max: 100, read_max: 100 };
    statementRows({ ...source, readEntry }, page);
    expect(read).toEqual([4, 3, 2, 1]);
  });

  it("a row of a job has no entry that lists leave out", () => {
    const moves = { job: 1, amount: 1, held: 0 };
    const ledger = ledgerOf([moves, { ...moves, amount: 0 }, moves]);
    const page = { first: 1, end: 4, below: 4, limit: 9, scan_max: 100, read_max: 100 };
    expect(statementRows(sourceOf(ledger), page).rows).toMatchObject([[{ line: 3 }, { line: 1 }]]);
  });

  it("a job's entries are found from its newest one", () => {
    const ledger = ledgerOf([1, 2, 1, 1].map((job) => ({ job, amount: 1, held: 0 })));
    expect(entriesFrom(sourceOf(ledger), 4).map(({ line }) => line)).toEqual([4, 3, 1]);
  });

  it("each kind of entry belongs to one group", () => {
    expect(STATEMENT_GROUPS.flatMap(kindsOf).toSorted()).toEqual(ENTRY_KINDS.toSorted());
  });
});
