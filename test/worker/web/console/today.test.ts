/** The overview's ranges "Today" and "24 hours": what burns credits now, by app, account and job. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { listTopSpenders } from "../../../../src/readmodel/top_spenders.ts";
import { fireAlarm } from "../../support/account_object.ts";
import { signIn, signInWithCredits, type SignedIn } from "../../support/passbook.ts";
import { openConsole } from "./pages.ts";

const TODAY = "2027-03-10";

const at = (time: string) =>
  vi.useFakeTimers({
    toFake: ["Date"],
    now: Date.parse(`${time.length > 9 ? time : `${TODAY}T${time}`}Z`),
  });

/** Signs in, because sessions of earlier hours have ended, runs a job to its end, and delivers it to the read model. */
async function spend(email: string, credits: number, app = "demo"): Promise<SignedIn> {
  const person = await signIn(email);
  const job = { app, action: "draw", cost_estimate: credits };
  const { job_id } = (await person.post("/api/jobs", job)).body;
  await person.post("/api/jobs/complete", { job_id, actual_cost: credits });
  await deliver(person);
  return person;
}

async function deliver(person: SignedIn): Promise<void> {
  await fireAlarm(person.identity_id);
}

/** The text of a part of a page. */
const words = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();

/** The cells of a table's rows, by the table's name. */
function table(html: string, label: string): readonly (readonly string[])[] {
  const start = html.indexOf(`aria-label="${label}"><thead>`);
  if (start < 0) return [];
  const body = html.slice(html.indexOf("<tbody", start), html.indexOf("</table>", start));
  return [...body.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = ""]) => words(cell)),
  );
}

const [ADA, BOB] = ["ada@example.com", "bob@example.com"];
beforeEach(async () => {
  at("2027-03-08T08:00:00");
  for (const email of [ADA, BOB]) await signInWithCredits("demo", email);
});

/** The schedule lists them. */
const TOP_ACCOUNTS = "The accounts that spend most";

/** A second later, because ids of jobs of one moment are those of the milliseconds after it. */
async function open(path: string): Promise<string> {
  vi.setSystemTime(Date.now() + 1000);
  return (await (await openConsole()).open(path)).text;
}

describe("today", () => {
  it("each app shows what it spent today, yesterday until the same minute, and the change", async () => {
    at("2027-03-09T14:20:10");
    await spend(ADA, 4);
    at("2027-03-09T14:21:00");
    await spend(ADA, 30);
    at("14:20:50");
    await spend(BOB, 9);
    at("14:21:30");
    // At 14:21, the job of yesterday at 14:21:00 is not before the same minute.
    const page = await open("/console?days=today");
    expect(table(page, "By app")).toEqual([["Demo", "9", "4", "+125 %", "1", "0"]]);
    expect(words(page)).toContain("9 credits spent +125 % Yesterday until 14:21 (UTC): 4");
    at("14:22:00");
    expect(table(await open("/console?days=today"), "By app")[0]).toEqual([
      "Demo",
      "9",
      "34",
      "−74 %",
      "1",
      "0",
    ]);
  });

  it("what an operator gave back today is not spent", async () => {
    at("10:00:00");
    const ada = await spend(ADA, 20);
    const { olga } = await openConsole();
    const [job] = (await ada.get("/api/jobs")).body.jobs;
    const path = `/api/admin/accounts/${ada.identity_id}/jobs/${job.id}/refund`;
    const key = { "Idempotency-Key": crypto.randomUUID() };
    await olga.send("POST", path, { amount: 5, reason: "a fault" }, key);
    await deliver(ada);
    expect(table(await open("/console?days=today"), "By app")[0]?.[1]).toBe("15");
    await listTopSpenders(env.DB, Date.now());
    expect(table(await open("/console?days=today&app=demo"), TOP_ACCOUNTS)).toEqual([
      ["ada@example.com", "15", "0", "1", "0"],
    ]);
  });

  it("each hour has its own column, and the last one is not over", async () => {
    at("00:10:00");
    await spend(ADA, 3);
    at("02:05:00");
    await spend(BOB, 5);
    at("02:40:00");
    const page = await open("/console?days=today");
    const hours = words(page.slice(page.indexOf("Show the numbers")));
    expect(hours).toContain("02:00 5 1 0 01:00 0 0 0 00:00 3 1 0 Hours are UTC");
  });

  it("one app lists the ten accounts that spend most, with what they hold, and the way to pause it", async () => {
    at("09:00:00");
    await spend(ADA, 40);
    const bob = await spend(BOB, 2);
    await spend(ADA, 50, "other");
    await bob.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 60 });
    await deliver(bob);
    const before = await open("/console?days=today&app=demo");
    expect(words(before)).toContain("The list has no account of this app yet.");
    at("09:10:00");
    await listTopSpenders(env.DB, Date.now());
    const page = await open("/console?days=today&app=demo");
    expect(table(page, TOP_ACCOUNTS)).toEqual([
      ["bob@example.com", "2", "60", "2", "0"],
      ["ada@example.com", "40", "0", "1", "0"],
    ]);
    expect(words(page)).toContain("the last time at 09:10 UTC, with jobs since 09:10 UTC");
    expect(page).toContain('href="/console/apps/demo/pause"');
  });

  it("an account lists the apps in which it spends most", async () => {
    at("09:00:00");
    await spend(ADA, 10);
    const ada = await spend(ADA, 20, "other");
    const page = await open(`/console/accounts/${ada.identity_id}`);
    expect(table(page, "Apps that spend most, last 24 hours")).toEqual([
      ["Other", "20", "0", "1"],
      ["Demo", "10", "0", "1"],
    ]);
  });
});

describe("the last 24 hours", () => {
  it("begin in yesterday's same minute, and are compared with the 24 hours before", async () => {
    at("2027-03-08T14:00:00");
    await spend(ADA, 6);
    at("2027-03-09T09:00:00");
    await spend(ADA, 1);
    at("2027-03-09T20:00:00");
    await spend(ADA, 11);
    at("08:00:00");
    await spend(BOB, 13);
    at("12:00:00");
    const page = await open("/console?days=24h");
    expect(table(page, "By app")).toEqual([["Demo", "24", "7", "+243 %", "2", "0"]]);
  });
});

describe("jobs by day and cost", () => {
  it("lists the jobs of a UTC day, the most expensive first", async () => {
    at("2027-03-09T23:59:59");
    await spend(ADA, 30);
    at("00:00:01");
    await spend(ADA, 5);
    await spend(BOB, 50);
    await spend(BOB, 20, "other");
    const costs = async (query: string) =>
      table(await open(`/console/jobs?${query}`), "Matching jobs").map((row) => row[4]);
    expect(await costs(`day=${TODAY}&sort=cost`)).toEqual(["50", "20", "5"]);
    expect(await costs(`day=${TODAY}&app=demo&sort=cost`)).toEqual(["50", "5"]);
    expect(await costs("day=2027-03-09&app=demo")).toEqual(["30"]);
    expect(await costs(`day=${TODAY}&identity_id=bob@example.com&sort=cost`)).toEqual(["50", "20"]);
  });

  it("the API lists the most expensive jobs without a further page", async () => {
    at("10:00:00");
    await spend(ADA, 5);
    await spend(ADA, 50);
    const { olga } = await openConsole();
    const { body } = await olga.get("/api/admin/jobs?sort=cost&limit=1");
    expect(body.jobs.map((job: { actual_cost: number }) => job.actual_cost)).toEqual([50]);
    expect(body.next_cursor).toBeUndefined();
    expect((await olga.get("/api/admin/jobs?sort=age")).status).toBe(400);
  });
});

describe("the marks of minutes", () => {
  it("an app has at most one a minute, whatever it does", async () => {
    at("10:00:00");
    for (let job = 0; job < 4; job += 1) await spend(ADA, 1);
    at("10:01:00");
    await spend(BOB, 1);
    const { results } = await env.DB.prepare(
      "select minute, jobs from day_minutes where day = ?1 and app_slug = 'demo' order by minute",
    )
      .bind(Date.parse(TODAY) / 86_400_000)
      .all();
    expect(results).toEqual([
      { minute: 600, jobs: 0 },
      { minute: 601, jobs: 4 },
    ]);
  });
});
