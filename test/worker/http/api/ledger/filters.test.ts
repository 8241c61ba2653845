import { describe, expect, it } from "vitest";
import { change, query } from "../../../support/account_object.ts";
import { passTime } from "../../../support/clock.ts";
import { signIn, signInWithCredits, type SignedIn } from "../../../support/passbook.ts";

const MINUTES_MS = 10 * 60 * 1000;

async function jobOf(person: SignedIn, app: string): Promise<string> {
  const job = { app, action: "draw", cost_estimate: 1 };
  return (await person.post("/api/jobs", job)).body.job_id;
}

/** Reads every page of a list, and the number of entries of each. */
async function readAll(person: SignedIn, filters: string) {
  const entries: { line: number; kind: string; app: string | null; at: string }[] = [];
  const pages: number[] = [];
  for (let cursor = ""; ;) {
    const { status, body } = await person.get(`/api/ledger?${filters}${cursor}`);
    expect(status).toBe(200);
    entries.push(...body.entries);
    pages.push(body.entries.length);
    if (body.next_cursor === undefined) return { entries, pages };
    cursor = `&cursor=${body.next_cursor}`;
  }
}

describe("the ledger, filtered", () => {
  it("the ledger is filtered by app, kind and job, separately and combined", async () => {
    const ada = await signInWithCredits();
    await ada.get("/api/wallet?app=sketch");
    const demo = await jobOf(ada, "demo");
    const sketch = await jobOf(ada, "sketch");
    await ada.post("/api/jobs/complete", { job_id: demo, actual_cost: 2 });
    const kinds = async (filters: string) =>
      (await readAll(ada, filters)).entries.map(({ kind }) => kind);
    expect(await kinds("app=demo")).toEqual(["settle", "reserve", "grant"]);
    expect(await kinds("kind=grant")).toEqual(["grant", "grant"]);
    expect(await kinds(`job_id=${demo.toUpperCase()}`)).toEqual(["settle", "reserve"]);
    expect(await kinds(`job_id=${sketch}`)).toEqual(["reserve"]);
    expect(await kinds("app=demo&kind=reserve")).toEqual(["reserve"]);
    expect(await kinds(`app=sketch&job_id=${demo}`)).toEqual([]);
    expect(await kinds(`job_id=${crypto.randomUUID()}`)).toEqual([]);
  });

  it("the ledger is filtered by time, from inclusive and to exclusive", async () => {
    const ada = await signInWithCredits();
    passTime(MINUTES_MS);
    await jobOf(ada, "demo");
    const { entries } = await readAll(ada, "");
    const at = entries[0]?.at ?? "";
    const read = async (filters: string) => (await readAll(ada, filters)).entries.length;
    expect(entries).toHaveLength(3);
    expect(await read(`from=${at}`)).toBe(1);
    expect(await read(`to=${at}`)).toBe(2);
    expect(await read(`from=${encodeURIComponent(at.replace("Z", "+00:00"))}`)).toBe(1);
    expect(await read(`from=2000-01-01T00:00:00Z&to=2000-01-02T00:00:00Z`)).toBe(0);
  });

  it("every ledger entry has a note, null if nobody wrote one", async () => {
    const ada = await signInWithCredits();
    const { body } = await ada.get("/api/ledger?limit=1");
    expect(body.entries).toEqual([expect.objectContaining({ note: null })]);
  });

  it.each([
    "app=A",
    "job_id=1",
    "kind=gift",
    "from=yesterday",
    "from=2026-11-21",
    "to=2026-02-31T00:00:00Z",
    "from=2026-11-21T00:00:00",
  ])("the ledger refuses the query %s", async (filters) => {
    const ada = await signIn();
    expect(await ada.get(`/api/ledger?${filters}`)).toMatchObject({
      status: 400,
      body: { code: "invalid_request" },
    });
  });
});

describe("the ledger of 100,000 lines", () => {
  it("a filtered page of a long ledger reads a bounded number of entries, and all pages together find every match", async () => {
    const ada = await signInWithCredits();
    // One entry a minute, of two apps. The rare app has 3 of the entries.
    await change(
      ada.identity_id,
      `insert into entries (line, kind, amount, balance_after, job_id, app_slug, at_ms, open_jobs)
       select value, 'grant', 0, 100, null, case when value % 40000 = 7 then 'rare' else 'demo' end,
         (select at_ms from entries where line = 2) + value * 60000, 0
       from (with recursive c(value) as (select 3 union all select value + 1 from c where value < 100000)
             select value from c)`,
    );
    const rare = await readAll(ada, "app=rare&limit=200");
    expect(rare.entries.map(({ line }) => line)).toEqual([80_007, 40_007, 7]);
    expect(Math.max(...rare.pages)).toBeLessThanOrEqual(1);
    expect(rare.pages).toHaveLength(50);
    const [row] = await query<{ at_ms: number }>(
      ada.identity_id,
      "select at_ms from entries where line = 50000",
    );
    const at_ms = row?.at_ms ?? 0;
    const from = new Date(at_ms).toISOString();
    const to = new Date(at_ms + 60 * 60_000).toISOString();
    const hour = await readAll(ada, `from=${from}&to=${to}&limit=200`);
    expect(hour.pages).toEqual([60]);
    expect(hour.entries.at(-1)?.line).toBe(50_000);
  });
});
