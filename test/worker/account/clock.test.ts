/** An account whose clock goes back, because a machine with another clock runs it. */
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { DEFAULT_POLICY } from "../../../src/domain/app_policy.ts";
import { SERVICE } from "../../../src/account/contract.ts";
import { readContents } from "../support/account_object.ts";
import { expectInvariants } from "./invariants.ts";

const ADA = "ada";
const session = { kind: "holder" } as const;
const account = () => env.ACCOUNT.getByName(ADA);

/** Months in the future, so that no alarm fires by itself. */
const NEXT_YEAR = new Date().getUTCFullYear() + 1;
const JANUARY_MS = Date.UTC(NEXT_YEAR, 0, 1);
const FEBRUARY_MS = Date.UTC(NEXT_YEAR, 1, 1);
const MARCH_MS = Date.UTC(NEXT_YEAR, 2, 1);

async function createdId(cost_estimate: number): Promise<string> {
  const request = {
    app_slug: "demo",
    policy: DEFAULT_POLICY,
    action: "draw",
    cost_estimate,
    ttl_seconds: 86_400,
    metadata_json: null,
  };
  const answer = await account().createJob(session, request, null);
  return answer.ok ? answer.value.value.job_id : expect.fail("refused");
}

async function complete(job_id: string, actual_cost: number): Promise<void> {
  const ended = { job_id, actual_cost, metadata_json: null };
  expect(await account().completeJob(session, ended, null)).toMatchObject({ ok: true });
}

async function statementOf(from_ms: number, to_ms: number) {
  const page = {
    from_ms,
    to_ms,
    app_slug: null,
    group: null,
    by: null,
    before_line: null,
    limit: 200,
  };
  const read = await account().readStatementRows(SERVICE, page);
  if (!read.ok) return expect.fail("the statement was refused");
  const { rows, sums, opening, closing } = read.value;
  return {
    lines: rows.flatMap(({ entries }) => entries.map((it) => it.line)),
    sums,
    opening,
    closing,
  };
}

it("the times of an account's entries never go back, however far its clock goes back", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: FEBRUARY_MS });
  await account().wallet(session, { app: { slug: "demo", starter_credits: 100 } });
  const job_id = await createdId(5);
  vi.setSystemTime(FEBRUARY_MS - 2 * 3_600_000);
  await complete(job_id, 3);
  await complete(await createdId(1), 1);
  vi.setSystemTime(FEBRUARY_MS + 1_000);
  await createdId(1);
  const { entries } = await readContents(ADA);
  const earlier = Array.from({ length: 6 }, () => FEBRUARY_MS);
  expect(entries.map(({ at_ms }) => at_ms)).toEqual([...earlier, FEBRUARY_MS + 1_000]);
  const ended = await account().readJob(session, job_id);
  expect(ended).toMatchObject({ value: { updated_at_ms: FEBRUARY_MS } });
  await expectInvariants(ADA);
});

it("the response to a repeated completion is the first one, although the clock went back before the completion", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: FEBRUARY_MS });
  await account().wallet(session, { app: { slug: "demo", starter_credits: 100 } });
  const job_id = await createdId(5);
  vi.setSystemTime(FEBRUARY_MS - 2 * 3_600_000);
  const ended = { job_id, actual_cost: 3, metadata_json: null };
  const guard = { key: "k", fingerprint: "f" };
  const first = await account().completeJob(session, ended, guard);
  const repeated = await account().completeJob(session, ended, guard);
  expect(first).toMatchObject({ ok: true, value: { replayed: false } });
  if (!first.ok) return;
  expect(repeated).toEqual({ ok: true, value: { ...first.value, replayed: true } });
});

it("a month that is over keeps its statement while entries follow, although the clock went back over its end", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: FEBRUARY_MS - 60_000 });
  await account().wallet(session, { app: { slug: "demo", starter_credits: 100 } });
  const january = await statementOf(JANUARY_MS, FEBRUARY_MS);
  for (let time = 0; time < 8; time += 1) {
    vi.setSystemTime(FEBRUARY_MS + 20_000);
    const job_id = await createdId(2);
    vi.setSystemTime(FEBRUARY_MS - 20_000);
    await complete(job_id, 1);
    expect(await statementOf(JANUARY_MS, FEBRUARY_MS)).toEqual(january);
    const february = await statementOf(FEBRUARY_MS, MARCH_MS);
    expect(february.opening).toEqual(january.closing);
    expect(february.sums).toEqual({ spent: -1 - time, added: 0 });
  }
});

it("a ledger's list of a job and of a period has every entry, although the clock went back in between", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: FEBRUARY_MS });
  await account().wallet(session, { app: { slug: "demo", starter_credits: 100 } });
  vi.setSystemTime(FEBRUARY_MS - 2 * 3_600_000);
  const job_id = await createdId(2);
  await complete(job_id, 1);
  const linesOf = async (filter: object): Promise<readonly number[]> => {
    const read = await account().listEntries(SERVICE, { limit: 50, ...filter });
    return read.ok ? read.value.rows.map(({ line }) => line) : expect.fail("the list was refused");
  };
  expect(await linesOf({ job_id })).toEqual([4, 3]);
  expect(await linesOf({ from_ms: FEBRUARY_MS })).toEqual([4, 3, 2, 1]);
  expect(await linesOf({ to_ms: FEBRUARY_MS })).toEqual([]);
});

it("a key that was used while the clock was two days ahead creates no second job when it is right again", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: JANUARY_MS });
  await account().wallet(session, { app: { slug: "demo", starter_credits: 100 } });
  const create = () =>
    account().createJob(
      session,
      {
        app_slug: "demo",
        policy: DEFAULT_POLICY,
        action: "draw",
        cost_estimate: 10,
        ttl_seconds: 2_000_000,
        metadata_json: null,
      },
      { key: "once", fingerprint: "one" },
    );
  vi.setSystemTime(JANUARY_MS + 2 * 86_400_000);
  const first = await create();
  vi.setSystemTime(JANUARY_MS + 1_000);
  const again = await create();
  expect(again).toEqual({
    ok: true,
    value: { ...(first.ok ? first.value : {}), replayed: true },
  });
  await expectInvariants(ADA);
});
