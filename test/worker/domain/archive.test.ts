import { describe, expect, it } from "vitest";
import { proveArchive, type StoredSegment } from "../../../src/domain/archive_chain.ts";
import { ArchiveReplay, undoneRanges } from "../../../src/domain/archive_proof.ts";
import {
  jobsFileName,
  parseSegment,
  rangeOfName,
  rowLine,
  segmentName,
  segmentText,
  type SegmentHeader,
  type SegmentRow,
} from "../../../src/domain/archive_segment.ts";

type Row = SegmentRow["row"];

const entry = (row: Row): SegmentRow => ({
  table: "entries",
  row: { kind: "grant", job_id: null, previous_line: null, ...row },
});
const jobRow = (row: Row): SegmentRow => ({ table: "jobs", row });

/** Credits that come, a job that costs 25 of 30 credits, and one that holds 10. */
const ENTRIES = {
  granted: entry({
    line: 1,
    amount: 100,
    balance_after: 100,
    reserved_after: 0,
    open_jobs: 0,
    at_ms: 10,
  }),
  started: entry({
    line: 2,
    job_id: "one",
    amount: -30,
    balance_after: 70,
    reserved_after: 30,
    open_jobs: 1,
    at_ms: 20,
  }),
  completed: entry({
    line: 3,
    job_id: "one",
    previous_line: 2,
    amount: 5,
    balance_after: 75,
    reserved_after: 0,
    open_jobs: 0,
    at_ms: 30,
  }),
  other_started: entry({
    line: 4,
    job_id: "two",
    amount: -10,
    balance_after: 65,
    reserved_after: 10,
    open_jobs: 1,
    at_ms: 30,
  }),
};
const JOBS = {
  one: jobRow({ id: "one", line: 3, status: "completed", actual_cost: 27, refunded: 2 }),
  two: jobRow({ id: "two", line: 4, status: "started", actual_cost: 0, refunded: 0 }),
};
const ALL = { ...ENTRIES, ...JOBS };
const AFTER_ALL = { line: 4, credits: 65, held: 10, started_jobs: 1, at_ms: 30 };

/** The rows of an account, with some of their columns replaced. */
const rowsWith = (
  changes: Readonly<Partial<Record<keyof typeof ALL, Row>>>,
): readonly SegmentRow[] =>
  Object.entries(ALL).map(([name, { table, row }]) => ({
    table,
    row: { ...row, ...changes[name as keyof typeof ALL] },
  }));

function replayOf(rows: readonly SegmentRow[], until_ms = 30): ArchiveReplay {
  const replay = new ArchiveReplay(until_ms);
  for (const row of rows) replay.add(row);
  replay.finish();
  return replay;
}

describe("the archived entries of an account", () => {
  it("that add up have no problem, and show the account at each time", () => {
    expect(replayOf(rowsWith({})).problems).toEqual([]);
    expect(replayOf(rowsWith({})).newest).toEqual(AFTER_ALL);
    const atTime = (until_ms: number): number => replayOf(rowsWith({}), until_ms).at_time.line;
    expect([9, 10, 29, 30].map(atTime)).toEqual([0, 1, 2, 4]);
  });

  it.each([
    [{ granted: { line: 2 } }, "after entry 0 comes entry 2"],
    [{ granted: { balance_after: 101 } }, "entry 1 says a balance of 101, but it must be 100"],
    [{ granted: { amount: 101 } }, "entry 1 says a balance of 100, but it must be 101"],
    [{ granted: { reserved_after: 1 } }, "entry 1 holds credits without a job"],
    [{ granted: { open_jobs: 1 } }, "entry 1 holds credits without a job"],
    [{ granted: { at_ms: 21 } }, "entry 2 is earlier than the entry before it"],
    [{ granted: { amount: 1.5 } }, "entry 1 lacks a number or its job"],
    [{ granted: { open_jobs: null } }, "entry 1 lacks a number or its job"],
    [{ started: { job_id: 7 } }, "entry 2 lacks a number or its job"],
    [{ completed: { previous_line: "2" } }, "entry 3 lacks a number or its job"],
    [{ completed: { previous_line: 1 } }, "entry 3 does not follow the newest entry of job one"],
    [{ completed: { previous_line: null } }, "entry 3 does not follow the newest entry of job one"],
    [
      { other_started: { previous_line: 1 } },
      "entry 4 does not follow the newest entry of job two",
    ],
    [{ started: { open_jobs: 0 } }, "entry 2 changes job one, which was never started"],
    [{ started: { open_jobs: 2 } }, "entry 2 starts or ends more than one job"],
    [{ other_started: { job_id: "one" } }, "entry 4 starts job one a second time"],
    [{ completed: { reserved_after: 1 } }, "after entry 3, job one holds 1 credits"],
    [{ completed: { reserved_after: -1 } }, "entry 3 holds less than nothing"],
    [{ started: { reserved_after: -1 } }, "after entry 2, job one holds -1 credits"],
    [{ one: { line: 2 } }, "job one does not name its newest entry, 3"],
    [{ one: { status: "started" } }, "job one is started, but its entries say otherwise"],
    [{ two: { status: "failed" } }, "job two is failed, but its entries say otherwise"],
    [{ one: { actual_cost: 28 } }, "job one costs 26 credits, but its entries take 25"],
    [{ one: { refunded: 1 } }, "job one costs 26 credits, but its entries take 25"],
    [
      { other_started: { reserved_after: 11 } },
      "job two costs 11 credits, but its entries take 10",
    ],
  ] as const)("that have %j are refused: %s", (changes, problem) => {
    expect(replayOf(rowsWith(changes)).problems).toContain(problem);
  });

  it("of a job that ends twice, or without a start, are refused", () => {
    const again = { ...ENTRIES.completed.row, line: 4, previous_line: 3 };
    const ends_twice = { ...again, amount: 0, open_jobs: -1 };
    const rows = [ENTRIES.granted, ENTRIES.started, ENTRIES.completed, entry(ends_twice)];
    expect(replayOf(rows).problems).toContain("entry 4 ends job one a second time");
    const changed = { ...again, amount: 1, balance_after: 76 };
    const refunded = [ENTRIES.granted, ENTRIES.started, ENTRIES.completed, entry(changed)];
    expect(replayOf(refunded).problems).toEqual([]);
    const without = { ...ENTRIES.completed.row, line: 1, previous_line: null, balance_after: 5 };
    expect(replayOf([entry({ ...without, open_jobs: -1 })]).problems).toEqual([
      "entry 1 changes job one, which was never started",
      "entry 1 ends job one a second time",
    ]);
  });

  it("of a job whose row is newer than the archive are not compared with it", () => {
    const newer = { line: 5, status: "completed", actual_cost: 1 };
    expect(replayOf(rowsWith({ two: newer })).problems).toEqual([]);
    expect(replayOf(rowsWith({ two: { ...newer, line: 4 } })).problems).toHaveLength(1);
    expect(replayOf(Object.values(ENTRIES)).problems).toEqual([]);
    const unknown = jobRow({ ...JOBS.two.row, id: "three", line: 3 });
    expect(replayOf([...rowsWith({}), unknown]).problems).toEqual([]);
    const payment = { table: "payments", row: { ...JOBS.two.row, id: "two", line: 1 } };
    expect(replayOf([...rowsWith({}), payment]).problems).toEqual([]);
  });

  it("have at most twenty problems", () => {
    const wrong = Array.from({ length: 30 }, (_, at) =>
      entry({ ...ENTRIES.granted.row, line: at + 1, amount: 0, balance_after: at }),
    );
    expect(replayOf(wrong).problems).toHaveLength(20);
  });

  it("that a restore undid count only for the time in which they were true", () => {
    const restore = entry({
      ...ENTRIES.granted.row,
      kind: "recovery",
      line: 5,
      previous_line: 1,
      amount: 35,
      at_ms: 50,
    });
    const undone = undoneRanges([{ line: 5, to_line: 1 }]);
    expect(undone).toEqual([{ first: 2, last: 4, by: 5 }]);
    const atTime = (until_ms: number): object => {
      const replay = new ArchiveReplay(until_ms, undone);
      for (const row of [...rowsWith({}), restore]) replay.add(row);
      replay.finish();
      expect(replay.problems).toEqual([]);
      expect(replay.newest).toMatchObject({ line: 5, credits: 100 });
      return replay.at_time;
    };
    expect(atTime(50)).toEqual({ line: 5, credits: 100, held: 0, started_jobs: 0, at_ms: 50 });
    expect(atTime(49)).toEqual(AFTER_ALL);
    expect(atTime(30)).toEqual(AFTER_ALL);
    expect(atTime(29)).toMatchObject({ line: 2, held: 30 });
  });

  it("of a job that goes on after a restore are not compared with a row that the restore undid", () => {
    const replay = new ArchiveReplay(30, [{ first: 3, last: 4, by: 5 }]);
    const balance = { amount: 5, balance_after: 70, reserved_after: 30, open_jobs: 1, at_ms: 50 };
    const restore = { ...ENTRIES.granted.row, kind: "recovery", line: 5, previous_line: 2 };
    for (const row of [...rowsWith({}), entry({ ...restore, ...balance })]) replay.add(row);
    replay.finish();
    expect(replay.problems).toEqual([]);
    expect(replay.newest).toMatchObject({ line: 5, held: 30, started_jobs: 1 });
  });

  it("that a restore undid may lack a number", () => {
    const replay = new ArchiveReplay(30, [{ first: 1, last: 1, by: 2 }]);
    replay.add(entry({ ...ENTRIES.granted.row, amount: null }));
    expect([replay.problems, replay.at_time.line]).toEqual([[], 0]);
  });

  it("that bring a payment back after a restore count as what they bring", () => {
    const balance = { amount: 5, balance_after: 70, reserved_after: 10, open_jobs: 1, at_ms: 50 };
    const brought = entry({ ...ENTRIES.granted.row, kind: "recovery", line: 5, ...balance });
    expect(replayOf([...rowsWith({}), brought]).problems).toEqual([]);
  });

  it("that were undone twice are in the ranges once, and a restore that was undone counts for nothing", () => {
    const earlier = { line: 5, to_line: 1 };
    expect(undoneRanges([earlier, { line: 8, to_line: 3 }])).toEqual([
      { first: 4, last: 7, by: 8 },
    ]);
    const apart = [earlier, { line: 9, to_line: 5 }];
    expect(undoneRanges(apart)).toEqual([
      { first: 2, last: 4, by: 5 },
      { first: 6, last: 8, by: 9 },
    ]);
    expect(undoneRanges([earlier, { line: 6, to_line: 4 }])).toEqual([
      { first: 5, last: 5, by: 6 },
    ]);
  });
});

const HASHES = ["a".repeat(64), "b".repeat(64)] as const;
const HEADERS: readonly [SegmentHeader, SegmentHeader] = [
  {
    format: 1,
    account_id: "account",
    identity_id: "user_1",
    first: 1,
    last: 2,
    previous_sha256: null,
  },
  {
    format: 1,
    account_id: "account",
    identity_id: "user_1",
    first: 3,
    last: 4,
    previous_sha256: HASHES[0],
  },
];
const ROWS = [
  [ENTRIES.granted, ENTRIES.started],
  [ENTRIES.completed, JOBS.one, ENTRIES.other_started, JOBS.two],
] as const;

const textOf = (at: 0 | 1, header: object = {}, rows: readonly SegmentRow[] = ROWS[at]): string =>
  segmentText({ ...HEADERS[at], ...header }, rows.map(rowLine));
const fileOf = (at: 0 | 1, text: string | null = textOf(at)): StoredSegment => ({
  name: segmentName(HEADERS[at]),
  sha256: HASHES[at],
  text,
});

const proofOf = (files: readonly StoredSegment[], head: { line: number; sha256: string } | null) =>
  proveArchive({ account_id: "account", files: () => files, head, until_ms: 20 });

describe("the archive of an account", () => {
  const HEAD = { line: 4, sha256: HASHES[1] };

  it("that is whole has no problem", async () => {
    expect(await proofOf([fileOf(0), fileOf(1)], HEAD)).toEqual({
      problems: [],
      segments: 2,
      identity_id: "user_1",
      newest: AFTER_ALL,
      at_time: { line: 2, credits: 70, held: 30, started_jobs: 1, at_ms: 20 },
      undone: [],
    });
    expect(await proofOf([], { line: 0, sha256: "" })).toMatchObject({
      problems: [" was changed: the service names another SHA-256 for it"],
      segments: 0,
      identity_id: null,
    });
    expect(await proofOf([], null)).toMatchObject({ problems: [] });
  });

  const names = [segmentName(HEADERS[0]), segmentName(HEADERS[1])] as const;
  const [first, second] = [fileOf(0), fileOf(1)];

  it.each<[string, readonly StoredSegment[], readonly string[]]>([
    [
      "has a file with another name",
      [{ ...first, name: "notes.txt" }, first, second],
      ["notes.txt is not the name of a segment"],
    ],
    [
      "lacks its first segment",
      [second],
      [`entries 1 to 2 are missing: a segment before ${names[1]} is not there`],
    ],
    ["lacks its last segment", [first], ["entries 3 to 4 are missing at the end"]],
    ["lacks all", [], ["entries 1 to 4 are missing at the end"]],
    [
      "has entries twice",
      [first, { ...first }, second],
      [`${names[0]} repeats entries of ${names[0]}`],
    ],
    [
      "has a segment that is not gzip",
      [first, { ...second, text: null }],
      [`${names[1]} is damaged: it is not gzip`],
    ],
    [
      "has a segment that is cut",
      [first, { ...second, text: textOf(1).slice(0, -1) }],
      [`${names[1]} is damaged: its last line has no end`],
    ],
    [
      "has a segment of another account",
      [{ ...first, text: textOf(0, { account_id: "other" }) }, second],
      [`${names[0]} belongs to the account other`],
    ],
    [
      "has a segment with another first entry than its name",
      [first, { ...second, text: textOf(1, { first: 2 }) }],
      [
        `${names[1]} has the entries 2 to 4, against its name`,
        `${names[1]} has entry 3 in the place of entry 2`,
      ],
    ],
    [
      "has a segment with another last entry than its name",
      [first, { ...second, text: textOf(1, { last: 5 }) }],
      [`${names[1]} has the entries 3 to 5, against its name`, `${names[1]} lacks entry 5`],
    ],
    [
      "has a segment that lacks an entry",
      [first, { ...second, text: textOf(1, {}, [ENTRIES.completed, JOBS.one]) }],
      [`${names[1]} lacks entry 4`],
    ],
    [
      "has a first segment that names an earlier one",
      [{ ...first, text: textOf(0, { previous_sha256: HASHES[1] }) }, second],
      [
        `${names[0]} names another SHA-256 than that of no segment: one of the two files was changed`,
      ],
    ],
    [
      "has a segment that was changed",
      [{ ...first, sha256: HASHES[1] }, second],
      [
        `${names[1]} names another SHA-256 than that of ${names[0]}: one of the two files was changed`,
      ],
    ],
    [
      "has a last segment that was changed",
      [first, { ...second, sha256: HASHES[0] }],
      [`${names[1]} was changed: the service names another SHA-256 for it`],
    ],
  ])("that %s is refused", async (_, files, problems) => {
    expect((await proofOf(files, HEAD)).problems).toEqual(problems);
  });

  it("that is newer than the service says is refused, and one whose end is unknown is not", async () => {
    const head = { line: 2, sha256: HASHES[0] };
    expect((await proofOf([first, second], head)).problems).toEqual([
      `${names[1]} is newer than the newest segment, which ends with entry 2`,
    ]);
    expect((await proofOf([first], null)).problems).toEqual([]);
  });

  it("whose entries do not add up is refused, unless files are missing too", async () => {
    const rows = [ENTRIES.granted, entry({ ...ENTRIES.started.row, balance_after: 71 })];
    const wrong = { ...first, text: textOf(0, {}, rows) };
    expect((await proofOf([wrong, second], HEAD)).problems).toEqual([
      "entry 2 says a balance of 71, but it must be 70",
      "entry 3 says a balance of 75, but it must be 76",
    ]);
    expect((await proofOf([wrong], HEAD)).problems).toEqual([
      "entries 3 to 4 are missing at the end",
    ]);
  });

  it("whose jobs cost something else than their entries is refused", async () => {
    const wrong = jobRow({ ...JOBS.one.row, actual_cost: 28 });
    const text = textOf(1, {}, [ENTRIES.completed, wrong, ENTRIES.other_started]);
    expect((await proofOf([first, { ...second, text }], HEAD)).problems).toEqual([
      "job one costs 26 credits, but its entries take 25",
    ]);
  });

  it("that has a restore shows what it undid, and only entries are restores", async () => {
    const restore = { ...ENTRIES.granted.row, kind: "recovery", line: 4, previous_line: 1 };
    const undoing = entry({ ...restore, amount: 25, at_ms: 40 });
    const text = textOf(1, {}, [ENTRIES.completed, JOBS.one, undoing]);
    const proof = await proofOf([first, { ...second, text }], HEAD);
    expect(proof).toMatchObject({ problems: [], undone: [{ first: 2, last: 3, by: 4 }] });
    const state = { table: "state", row: restore };
    const no_restore = textOf(1, {}, [...ROWS[1], state]);
    expect(await proofOf([first, { ...second, text: no_restore }], HEAD)).toMatchObject({
      problems: [],
      undone: [],
    });
    const damaged = { ...second, text: `{"kind":"recovery"` };
    expect((await proofOf([first, damaged], HEAD)).problems).toHaveLength(1);
  });
});

describe("a segment of the archive", () => {
  it.each([
    [{ first: 1, last: 1_000 }, "000000000001-000000001000.jsonl.gz"],
    [{ first: 7, last: 7 }, "000000000007-000000000007.jsonl.gz"],
  ])("with the entries %j has the name %s", (range, name) => {
    expect(segmentName(range)).toBe(name);
    expect(rangeOfName(name)).toEqual(range);
  });

  it.each([
    "000000000000-000000000001.jsonl.gz",
    "000000000002-000000000001.jsonl.gz",
    "1-2.jsonl.gz",
    "000000000001-000000000002.jsonl",
    "",
  ])("cannot have the name %j", (name) => {
    expect(rangeOfName(name)).toBeNull();
  });

  it("is read as it was written", () => {
    expect(parseSegment(textOf(1))).toEqual({
      ok: true,
      value: { header: HEADERS[1], rows: ROWS[1] },
    });
    expect(parseSegment(textOf(0, {}, []))).toMatchObject({ ok: true, value: { rows: [] } });
  });

  it.each([
    ["", "its header is not a JSON object"],
    ["[]\n", "its header is not a JSON object"],
    ["null\n", "its header is not a JSON object"],
    ["{}", "its last line has no end"],
    ["{}\n", "its header has the format undefined, but this program reads format 1"],
    [textOf(0, { format: 2 }), "its header has the format 2, but this program reads format 1"],
    [textOf(0, { account_id: 7 }), "its header names no account"],
    [textOf(0, { identity_id: null }), "its header names no account"],
    [textOf(0, { first: "1" }), "its header names no entries"],
    [textOf(0, { last: 1.5 }), "its header names no entries"],
    [textOf(0, { previous_sha256: undefined }), "its header names no earlier segment"],
    [textOf(0, { previous_sha256: "A".repeat(64) }), "its header names no earlier segment"],
    [textOf(0, { previous_sha256: [HASHES[0]] }), "its header names no earlier segment"],
    [`${textOf(0)}{}\n`, "its line 4 is not a row of a table"],
    [`${textOf(0)}{"table":7,"row":{}}\n`, "its line 4 is not a row of a table"],
    [`${textOf(0)}{"table":"x","row":[]}\n`, "its line 4 is not a row of a table"],
    [`${textOf(0)}{"table":"x","row":null}\n`, "its line 4 is not a row of a table"],
    [`${textOf(0)}{"table":"x","row":"y"}\n`, "its line 4 is not a row of a table"],
    [`${textOf(0)}not JSON\n`, "its line 4 is not a row of a table"],
  ])("with the text %j is refused: %s", (text, refusal) => {
    expect(parseSegment(text)).toEqual({ ok: false, refusal });
  });

  it("a file of old jobs is named by its last job and its hash", () => {
    const sha256 = "0123456789abcdef".repeat(4);
    expect(jobsFileName({ last_id: "job", sha256 })).toBe("job-0123456789abcdef.jsonl.gz");
  });
});
