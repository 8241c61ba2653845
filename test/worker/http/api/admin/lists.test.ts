import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { fireAlarm } from "../../../support/account_object.ts";
import { signInWithCredits, type Answer } from "../../../support/passbook.ts";
import { signInOperator } from "./operators.ts";

/** Creates accounts and delivers them to D1: Ada has 100 credits, Bob 60 and 40 held, Carla 80 after spending 20. */
async function crowd() {
  const olga = await signInOperator();
  const ada = await signInWithCredits("demo", "ada@example.com");
  const bob = await signInWithCredits("demo", "bob@example.com");
  const carla = await signInWithCredits("draw", "carla@example.org");
  const held = { app: "demo", action: "draw", cost_estimate: 40 };
  const started = await bob.post("/api/jobs", held);
  const spent = await carla.post("/api/jobs", { app: "draw", action: "draw", cost_estimate: 30 });
  await carla.post("/api/jobs/complete", { job_id: spent.body.job_id, actual_cost: 20 });
  for (const { identity_id } of [ada, bob, carla]) await fireAlarm(identity_id);
  const ids = { bobs: started.body.job_id as string, carlas: spent.body.job_id as string };
  return { olga, ada, bob, carla, ids };
}

const emails = ({ body }: Answer) => body.accounts.map(({ email }: { email: string }) => email);

describe("GET /api/admin/accounts", () => {
  it("the list of accounts finds by account id, identity and the beginning of an e-mail address, ignoring case", async () => {
    const { olga, ada } = await crowd();
    const find = async (q: string) => emails(await olga.get(`/api/admin/accounts?q=${q}`));
    const { id } = (await ada.get("/api/wallet")).body.account;
    expect(await find(id)).toEqual(["ada@example.com"]);
    expect(await find(ada.identity_id)).toEqual(["ada@example.com"]);
    expect(await find("ADA@")).toEqual(["ada@example.com"]);
    expect(await find("carla")).toEqual(["carla@example.org"]);
    expect(await find("example")).toEqual([]);
    expect(await find("%25")).toEqual([]);
  });

  it("the list of accounts is sorted, and next_cursor continues it", async () => {
    const { olga } = await crowd();
    for (const [sort, expected] of [
      ["credits", ["ada@example.com", "carla@example.org", "bob@example.com"]],
      ["created", ["carla@example.org", "bob@example.com", "ada@example.com"]],
    ] as const) {
      const found: string[] = [];
      let cursor = "";
      do {
        const response = await olga.get(`/api/admin/accounts?sort=${sort}&limit=1${cursor}`);
        found.push(...emails(response));
        cursor = response.body.next_cursor ? `&cursor=${response.body.next_cursor}` : "";
      } while (cursor !== "");
      expect(found, sort).toEqual(expected);
    }
  });

  it("the list of accounts has the held credits and the time of the query", async () => {
    const { olga, bob } = await crowd();
    const { body } = await olga.get(`/api/admin/accounts?q=${bob.identity_id}`);
    expect(body.accounts[0]).toMatchObject({ credits: 60, held: 40, plan: "free", name: null });
    expect(Date.parse(body.as_of)).toBeLessThanOrEqual(Date.now());
  });

  it.each(["sort=name", "limit=0", "cursor=x"])(
    "the operators' list refuses the query %s",
    async (query) => {
      const olga = await signInOperator();
      expect((await olga.get(`/api/admin/accounts?${query}`)).status).toBe(400);
    },
  );
});

describe("one account", () => {
  it("an account is shown in full, with the same jobs and ledger that its holder sees", async () => {
    const { olga, bob, ids } = await crowd();
    const path = `/api/admin/accounts/${bob.identity_id}`;
    const { body } = await olga.get(path);
    expect(body).toMatchObject({
      account: { identity_id: bob.identity_id, email: "bob@example.com", credits: 60 },
      held: 40,
      apps: [{ slug: "demo", granted: true }],
      personal_tokens: [],
      started_jobs: [{ id: ids.bobs }],
    });
    expect(body.sessions).toHaveLength(1);
    expect((await olga.get(`${path}/jobs`)).body).toEqual((await bob.get("/api/jobs")).body);
    expect((await olga.get(`${path}/ledger?kind=grant`)).body).toEqual(
      (await bob.get("/api/ledger?kind=grant")).body,
    );
  });
});

describe("GET /api/admin/jobs", () => {
  it("jobs of all accounts are listed newest first and filtered by app, status and identity", async () => {
    const { olga, bob, carla, ids } = await crowd();
    const list = async (query: string) =>
      (await olga.get(`/api/admin/jobs?${query}`)).body.jobs.map((job: { id: string }) => job.id);
    expect(await list("")).toEqual([ids.carlas, ids.bobs]);
    expect(await list("app=draw")).toEqual([ids.carlas]);
    expect(await list("status=started")).toEqual([ids.bobs]);
    expect(await list("from=2000-01-01T00:00:00Z")).toEqual([ids.carlas, ids.bobs]);
    expect(await list("to=2000-01-01T00:00:00Z")).toEqual([]);
    expect(await list("from=9999-01-01T00:00:00Z")).toEqual([]);
    expect(await list(`identity_id=${bob.identity_id}`)).toEqual([ids.bobs]);
    const { body } = await olga.get("/api/admin/jobs?limit=1");
    expect(body.jobs[0]).toMatchObject({ identity_id: carla.identity_id, actual_cost: 20 });
    expect(await list(`cursor=${body.next_cursor}`)).toEqual([ids.bobs]);
  });

  it("the operators' list of jobs has failure_reason", async () => {
    const { olga, bob, ids } = await crowd();
    await bob.post("/api/jobs/fail", { job_id: ids.bobs, reason: "out of paper" });
    await fireAlarm(bob.identity_id);
    const { body } = await olga.get(`/api/admin/jobs?identity_id=${bob.identity_id}`);
    expect(body.jobs[0]).toMatchObject({ failure: "reported", failure_reason: "out of paper" });
  });
});

describe("GET /api/admin/stats", () => {
  it("daily totals are added up for all apps and for one app", async () => {
    const { olga } = await crowd();
    const [today] = (await olga.get("/api/admin/stats")).body.series;
    expect(today).toMatchObject({ granted: 300, reserved: 70, settled: 20, jobs: 2, failed: 0 });
    expect(today.active_accounts).toBe(3);
    const [of_draw] = (await olga.get("/api/admin/stats?app=draw")).body.series;
    expect(of_draw).toMatchObject({ granted: 100, reserved: 30, settled: 20, active_accounts: 1 });
    const long_ago = await olga.get("/api/admin/stats?from=2020-01-01&to=2020-02-01");
    expect(long_ago.body.series).toEqual([]);
  });

  it.each(["from=2020-02-30", "from=2020-02-02&to=2020-02-02", "from=2020-01-01&to=2022-01-01"])(
    "the operators' list refuses the query %s",
    async (query) => {
      const olga = await signInOperator();
      expect((await olga.get(`/api/admin/stats?${query}`)).status).toBe(400);
    },
  );
});

describe("GET /api/admin/audit", () => {
  it("the audit log is listed newest first and filtered by actor, act and subject", async () => {
    const { olga, ada, bob } = await crowd();
    for (const person of [ada, bob, ada]) {
      await olga.send("POST", `/api/admin/accounts/${person.identity_id}/rebuild`, {});
    }
    const list = async (query: string) => {
      const { body } = await olga.get(`/api/admin/audit?${query}`);
      return body.entries.map(({ subject }: { subject: string }) => subject);
    };
    const [a, b] = [ada.identity_id, bob.identity_id];
    expect(await list("")).toEqual([a, b, a]);
    expect(await list(`subject=${b}`)).toEqual([b]);
    expect(await list("act=account.plan")).toEqual([]);
    expect(await list(`actor=${a}`)).toEqual([]);
    const first = await olga.get("/api/admin/audit?limit=2");
    expect(await list(`limit=2&cursor=${first.body.next_cursor}`)).toEqual([a]);
  });

  it("the audit log can be read while the read model is unavailable", async () => {
    const olga = await signInOperator();
    await env.DB.prepare("drop table accounts").run();
    expect((await olga.get("/api/admin/audit")).status).toBe(200);
  });
});
