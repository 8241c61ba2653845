/** The written rows that docs/scale.md states: of a job that takes credits with terms, of a sleeping account, and of a person. */
import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { monthOf } from "../../../src/domain/calendar.ts";
import { countingRows } from "../readmodel/watched.ts";
import { countRowsWritten, fireAlarm, query, readAlarm } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import { environmentWith, signIn, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { signInOperator, type Operator } from "./api/admin/operators.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
let keys = 0;

const act = (olga: Operator, { identity_id }: SignedIn, what: string, body: object) =>
  olga.send("POST", `/api/admin/accounts/${identity_id}/${what}`, body, {
    "Idempotency-Key": `price-${(keys += 1)}`,
  });

/** Ada, with 100 credits without terms, and lots of these sizes in the order of use. */
async function withLots(...sizes: readonly number[]): Promise<SignedIn> {
  const olga = await signInOperator();
  const ada = await signInWithCredits();
  for (const [at, amount] of sizes.entries()) {
    const expires_at = new Date(Date.now() + (30 + at) * DAY_MS).toISOString();
    const given = await act(olga, ada, "credits", { amount, reason: "a gift", expires_at });
    expect(given.status).toBe(200);
  }
  await fireAlarm(ada.identity_id);
  return ada;
}

/** The rows in the object of a job's life. */
async function rowsOfLife(ada: SignedIn, cost_estimate: number, actual_cost: number) {
  const object_rows = await countRowsWritten(ada.identity_id);
  const { job_id } = (await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate }))
    .body;
  const ended = await ada.post("/api/jobs/complete", { job_id, actual_cost });
  expect(ended.status).toBe(200);
  return object_rows();
}

describe("the rows of a job that takes credits with terms", () => {
  it("an account without credits with terms writes 4 rows in the object for a job", async () => {
    expect(await rowsOfLife(await withLots(), 9, 7)).toBe(4);
  });

  it("a job that takes from one of three lots writes 6 rows: that lot's row changes at its start and end", async () => {
    expect(await rowsOfLife(await withLots(10, 10, 10), 9, 7)).toBe(6);
  });

  it("a job that takes from all of three lots writes 10 rows", async () => {
    expect(await rowsOfLife(await withLots(3, 3, 3), 9, 7)).toBe(10);
  });
});

it("a sleeping account with a monthly plan adds 2 entries a month in 2 alarms: 7 rows in its object, 6 in D1 and a segment of the archive", async () => {
  passTime(monthOf(Date.now()).to_ms + DAY_MS - Date.now());
  const olga = await signInOperator();
  const rule = { credits: 10, every: "month", rollover_max: 0, app_slugs: null };
  const plan = { name: "Studio", recurring: [rule] };
  await olga.send("PUT", "/api/admin/plans/studio", plan, { "Idempotency-Key": "price-plan" });
  const ada = await signInWithCredits();
  await act(olga, ada, "plan", { plan: "studio", reason: "paid by invoice" });
  const { identity_id } = ada;
  const wake = async (): Promise<void> => {
    const at_ms = (await readAlarm(identity_id)) ?? 0;
    passTime(Math.max(0, at_ms - Date.now()));
    await fireAlarm(identity_id);
  };
  // Until nothing is left of the month in which somebody used the account.
  const { to_ms } = monthOf(monthOf(Date.now()).to_ms);
  while (((await readAlarm(identity_id)) ?? Number.POSITIVE_INFINITY) < to_ms) await wake();
  const lines = () => query<{ line: number }>(identity_id, "select max(line) as line from entries");
  const [before] = await lines();
  const object_rows = await countRowsWritten(identity_id);
  const in_d1 = countBatches();
  const files = vi.spyOn(env.ARCHIVE, "put");
  const { to_ms: month_ends_ms } = monthOf(to_ms);
  let alarms = 0;
  while (((await readAlarm(identity_id)) ?? Number.POSITIVE_INFINITY) < month_ends_ms) {
    await wake();
    alarms += 1;
  }
  const [after] = await lines();
  expect((after?.line ?? 0) - (before?.line ?? 0)).toBe(2);
  const price = { object: object_rows(), d1: in_d1(), files: files.mock.calls.length, alarms };
  expect(price).toEqual({ object: 7, d1: 6, files: 1, alarms: 2 });
});

/** Counts the rows that batches write to the read model until the test ends. */
function countBatches(): () => number {
  const batches: D1Result[][] = [];
  const prototype = Object.getPrototypeOf(env.DB);
  const { batch } = prototype;
  prototype.batch = async function (this: D1Database, statements: D1PreparedStatement[]) {
    const results: D1Result[] = await Reflect.apply(batch, this, [statements]);
    batches.push(results);
    return results;
  };
  onTestFinished(() => void (prototype.batch = batch));
  return () => batches.flat().reduce((sum, { meta }) => sum + meta.rows_written, 0);
}

describe("the price of a person", () => {
  /** A sign-in, with what it wrote to the directory and to the archive. */
  async function priceOf(email: string) {
    const counted = countingRows(env.DIRECTORY);
    const put = vi.spyOn(env.ARCHIVE, "put");
    const settings = { DIRECTORY: counted.database };
    environmentWith(settings);
    await signIn(email, settings);
    const writes = put.mock.calls.length;
    put.mockRestore();
    return { directory_rows: counted.written(), archive_writes: writes };
  }

  it("a sign-up writes 17 rows of the directory and 2 files to the archive, and each later sign-in 4 rows and no file", async () => {
    await signIn("first@example.com");
    expect(await priceOf("ada@example.com")).toEqual({ directory_rows: 17, archive_writes: 2 });
    expect(await priceOf("ada@example.com")).toEqual({ directory_rows: 4, archive_writes: 0 });
  });
});
