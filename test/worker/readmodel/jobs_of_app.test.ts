/** The list of one app's jobs across accounts. */
import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { describe, expect, it } from "vitest";
import { DAY_MS, firstIdOf, utcDayOf } from "../../../src/domain/calendar.ts";
import { cleanReadModel } from "../../../src/readmodel/retention.ts";
import { createReadModel, jobsQuery, type JobSearch } from "../../../src/readmodel/queries.ts";

const NOW_MS = 1_800_000_000_000;

/** Accounts that each created jobs of an app on a day: at its first and last millisecond, and between. */
async function insertDay(app: string, days_ago: number, accounts: readonly string[], jobs = 1) {
  const day = utcDayOf(NOW_MS) - days_ago;
  const times_ms = [day * DAY_MS, (day + 1) * DAY_MS - 1, day * DAY_MS + 9];
  const idOf = (account: string, place: number, at_ms: number): string =>
    `'${firstIdOf(at_ms)}-7' || printf('%03d-%s-%s-${place}', i, '${account}', '${app}')`;
  const statements = accounts.flatMap((account) => [
    `insert or ignore into accounts (id, identity_id, plan, created_at_ms, line, credits, reserved, updated_at_ms)
      values ('${account}', 'of ${account}', 'free', 1, 1, 0, 0, 1)`,
    `insert or ignore into account_days (account_id, day, app_slug)
      values ('${account}', ${day}, '${app}')`,
    ...times_ms.map(
      (at_ms, place) => `insert into jobs
        with recursive n(i) as (select 1 union all select i + 1 from n where i < ${jobs})
        select '${account}', ${idOf(account, place, at_ms)}, '${app}', 'draw', 'completed', 1, 1, 0, 0, null, null, null,
          ${at_ms}, ${at_ms}, ${at_ms}, 1 from n`,
    ),
  ]);
  await env.DB.batch(statements.map((statement) => env.DB.prepare(statement)));
}

describe("the jobs of one app", () => {
  it("a page of an app's jobs reads neither jobs of other apps nor days after the page", async () => {
    await insertDay("other", 0, ["a", "b", "c"], 500);
    await insertDay("own", 5, ["b"], 500);
    await insertDay("own", 1, ["a", "d"], 3);
    await insertDay("own", 2, ["d"], 5);
    const rowsRead = async (search: JobSearch): Promise<readonly number[]> => {
      const { sql, params } = jobsQuery(drizzle(env.DB), search).toSQL();
      const { results, meta } = await env.DB.prepare(sql)
        .bind(...params)
        .all();
      return [results.length, meta.rows_read];
    };
    const [found, read] = await rowsRead({ app_slug: "own", limit: 10 });
    expect(found).toBe(10);
    expect(read).toBeLessThan(100);
    const [none, read_for_none] = await rowsRead({ app_slug: "unknown", limit: 10 });
    expect(none).toBe(0);
    expect(read_for_none).toBeLessThan(5);
  });

  it("pages of an app's jobs are those of the whole list, newest first, with every filter", async () => {
    for (const days_ago of [0, 1, 7]) {
      await insertDay("own", days_ago, ["a", "b"], 2);
      await insertDay("other", days_ago, ["a", "c"], 2);
    }
    const model = createReadModel(env.DB);
    const all = (await model.findJobs({ limit: 1_000 })).filter(
      ({ app_slug }) => app_slug === "own",
    );
    expect(all).toHaveLength(36);
    const pages = async (filter: Omit<JobSearch, "limit">) => {
      const found = [];
      let before_id: string | undefined;
      do {
        const page = await model.findJobs({ ...filter, before_id, limit: 10 });
        found.push(...page);
        before_id = page.at(-1)?.id;
      } while (before_id !== undefined);
      return found;
    };
    expect(await pages({ app_slug: "own" })).toEqual(all);
    const [from_ms, to_ms] = [all[25]?.created_at_ms ?? 0, all[3]?.created_at_ms ?? 0];
    expect(await pages({ app_slug: "own", from_ms, to_ms })).toEqual(
      all.filter(({ created_at_ms: at_ms }) => at_ms >= from_ms && at_ms < to_ms),
    );
    expect(await pages({ app_slug: "own", identity_id: "of b" })).toEqual(
      all.filter(({ identity_id }) => identity_id === "of b"),
    );
    expect(await pages({ app_slug: "own", status: "failed" })).toEqual([]);
  });

  it("an app's started job that is older than the window stays in its list until it ends", async () => {
    await insertDay("own", 40, ["a"]);
    await env.DB.exec("update jobs set status = 'started' where id like '%-0'");
    await cleanReadModel(env.DB, 30, NOW_MS);
    const model = createReadModel(env.DB);
    expect(await model.findJobs({ app_slug: "own", limit: 9 })).toHaveLength(1);
    await env.DB.exec("update jobs set status = 'failed'");
    await cleanReadModel(env.DB, 30, NOW_MS);
    expect(await env.DB.prepare("select count(*) as n from account_days").first("n")).toBe(0);
  });
});
