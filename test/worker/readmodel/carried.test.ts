/** The sums of all days before one: carried by the schedule, and as exact as adding up all days. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { DAY_MS, utcDayOf } from "../../../src/domain/calendar.ts";
import { carryTotals } from "../../../src/readmodel/carried.ts";
import { createDirectProjector } from "../../../src/readmodel/direct_projector.ts";
import { ReadModel } from "../../../src/readmodel/queries.ts";
import { rowsBetween } from "./contract.ts";

const NOW_MS = Date.now();
const TODAY = utcDayOf(NOW_MS);
const DAYS = 500;

const read_model = () => new ReadModel(env.DB);

/** The sums of a month a year ago, of the last month, and of now. */
const sums = async () =>
  [
    await read_model().readMonthTotals(TODAY - 400, TODAY - 370),
    await read_model().readMonthTotals(TODAY - 31, TODAY + 1),
    await read_model().readOutstanding(),
  ] as const;

const carried = () =>
  env.DB.prepare("select count(distinct day) as n from carried_totals").first("n");

beforeEach(async () => {
  await env.DB.exec(
    `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${DAYS * 12 - 1}) insert into daily_totals (day, app_slug, granted, reserved, settled, refunded, job_refunded, purchased, adjusted, taken_back, forfeited, expired, jobs, failed, active_accounts, settled_bought, held, holders) select ${TODAY} - i / 12, 'app' || (i % 12), i, 0, 1, 0, 2, i % 7, 0, 0, -1, 0, 0, 0, 0, i % 2, i % 5, i % 3 from n`,
  );
  await env.DB.exec(
    `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${DAYS * 2 - 1}) insert into daily_owed select ${TODAY} - i / 2, iif(i % 2, 'eur', 'usd'), i, i * 3, i * 5 from n`,
  );
});

describe("carried totals", () => {
  it("change no sum, and a query then adds few days to them", async () => {
    const before = await sums();
    await carryTotals(env.DB, NOW_MS);
    expect(await carried()).toBe(2);
    expect(await sums()).toEqual(before);
    await carryTotals(env.DB, NOW_MS + DAY_MS);
    expect(await carried()).toBe(3);
    expect(await sums()).toEqual(before);
    expect(await carryTotals(env.DB, NOW_MS + DAY_MS)).toEqual({ carried: 0 });
  });

  it("a late entry of a carried day is in every sum at once, and is carried again", async () => {
    await carryTotals(env.DB, NOW_MS);
    const [old_before] = await sums();
    const rows = rowsBetween(1, 3);
    const days = rows.days.map((day) => ({ ...day, day: TODAY - 390, held: 1 }));
    await createDirectProjector(env.DB).apply({ ...rows, days }, null);
    const [old, now, outstanding] = await sums();
    expect(old.closing.given).toBe(old_before.closing.given + 100);
    await env.DB.exec("delete from carried_totals");
    expect(await sums()).toEqual([old, now, outstanding]);
    await carryTotals(env.DB, NOW_MS);
    expect(await sums()).toEqual([old, now, outstanding]);
  });

  it("an entry of yesterday leaves the carried sums, which end before it", async () => {
    await carryTotals(env.DB, NOW_MS);
    const before = await carried();
    const rows = rowsBetween(1, 3);
    const days = rows.days.map((day) => ({ ...day, day: TODAY - 1 }));
    await createDirectProjector(env.DB).apply({ ...rows, days }, null);
    expect(await carried()).toBe(before);
    const held = await sums();
    await env.DB.exec("delete from carried_totals");
    expect(await sums()).toEqual(held);
  });
});
