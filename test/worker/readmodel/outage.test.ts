import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { fireAlarm } from "../support/account_object.ts";
import { registerApp } from "../support/directory_outage.ts";
import { openBrowser, subjectOf, tokenOf } from "../support/browser.ts";
import { send } from "../support/passbook.ts";
import { connect, openProviderDouble } from "../support/provider_double.ts";
import { breakReadModel, untouchable, type Outage } from "./outage.ts";

const ADA = { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true };

describe.each<Outage>(["off", "full", "slow", "wiped"])("with the read model %s", (outage) => {
  it("people sign in, spend and sign out without noticing the outage", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    vi.spyOn(console, "warn").mockReturnValue();
    await registerApp("atelier", { starter_credits: 60 });
    await breakReadModel(outage);
    const acme = openProviderDouble("acme");
    const settings = { ...connect(acme), DB: untouchable() };
    const browser = openBrowser(settings);

    const landed = await browser.signIn(acme, ADA);
    expect(landed.status).toBe(303);
    const token = tokenOf(landed);
    const identity_id = subjectOf(token);
    expect((await browser.get("/account")).status).toBe(200);
    const renewed = await browser.get("/api/sessionToken");
    expect(renewed.status).toBe(200);

    const ask = (method: string, path: string, body?: object) =>
      send(
        method,
        path,
        {
          headers: {
            Authorization: `Bearer ${renewed.body.token}`,
            "Content-Type": "application/json",
          },
          body: body === undefined ? null : JSON.stringify(body),
        },
        settings,
      );
    const wallet = await ask("GET", "/api/wallet?app=atelier");
    expect(wallet.body).toMatchObject({ account: { credits: 60 }, app_grant: { granted: true } });
    await fireAlarm(identity_id);
    const job = { app: "atelier", action: "draw", cost_estimate: 10 };
    const { job_id } = (await ask("POST", "/api/jobs", job)).body;
    await fireAlarm(identity_id);
    const completed = await ask("POST", "/api/jobs/complete", { job_id, actual_cost: 4 });
    expect(completed).toMatchObject({ status: 200, body: { credits: 56 } });
    const failing = (await ask("POST", "/api/jobs", job)).body;
    const failed = await ask("POST", "/api/jobs/fail", { job_id: failing.job_id });
    expect(failed).toMatchObject({ status: 200, body: { credits: 56 } });
    await fireAlarm(identity_id);
    expect((await ask("GET", "/api/jobs")).body.jobs).toHaveLength(2);
    expect((await ask("GET", "/api/wallet")).body.account.credits).toBe(56);

    // The outage was real: nothing was delivered.
    vi.restoreAllMocks();
    const arrived = env.DB.prepare("select count(*) as n from jobs").first("n");
    expect(await arrived.catch(() => 0)).toBe(0);
    connect(acme);
    expect((await browser.post("/signout")).status).toBe(303);
    expect((await browser.get("/api/sessionToken")).status).toBe(401);
  });
});

describe("the two databases", () => {
  const TABLES = `select name from sqlite_master where type in ('table', 'view')
    and name not like 'sqlite_%' and name not like '\\_cf%' escape '\\'
    and name not like '%migrations%' order by name`;
  const tablesOf = async (database: D1Database) => (await database.prepare(TABLES).raw()).flat();

  it("the directory has only people and apps, and the read model has the rest", async () => {
    const directory = await tablesOf(env.DIRECTORY);
    const read_model = await tablesOf(env.DB);
    expect(directory).toEqual(expect.arrayContaining(["apps", "identities", "sessions", "users"]));
    expect(read_model).toEqual(expect.arrayContaining(["accounts", "grants", "jobs"]));
    expect(directory.filter((name) => read_model.includes(name))).toEqual([]);
  });
});
