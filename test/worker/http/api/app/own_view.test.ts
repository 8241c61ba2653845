import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { createExecutionContext } from "cloudflare:test";
import worker from "../../../../../src/worker.ts";
import { fireAlarm } from "../../../support/account_object.ts";
import { earlyInAMinute, passTime } from "../../../support/clock.ts";
import {
  BASE_URL,
  environmentWith,
  send,
  signIn,
  signInWithCredits,
} from "../../../support/passbook.ts";
import { openAppServer, type AppServer } from "../../caller/app_server.ts";
import { serverOf } from "../admin/webhooks/owner.ts";

const JOB = { app: "sketch", action: "draw", cost_estimate: 5 };

/** The app sketch, a person with its account and jobs of it and of another app, and a person who never used it. */
async function openAccounts() {
  const app = await openAppServer("sketch", { settle: "holder", starter_credits: 30 });
  const ada = await signInWithCredits("sketch");
  await ada.get("/api/wallet?app=other");
  const own: string[] = [];
  for (const slug of ["sketch", "other", "sketch"]) {
    const { job_id } = (await ada.post("/api/jobs", { ...JOB, app: slug })).body;
    if (slug === "sketch") own.push(job_id);
  }
  await ada.post("/api/jobs/complete", { job_id: own[0], actual_cost: 3 });
  return { app, server: serverOf(app), ada, own, of_ada: app.in(ada.identity_id) };
}

describe("GET /api/jobs with an app's key and without Passbook-Identity", () => {
  it("an app's key lists the app's jobs of all accounts, newest first, with their identities", async () => {
    const { server, app, ada, own } = await openAccounts();
    const bob = await signInWithCredits("sketch", "bob@example.com");
    const { job_id } = (await bob.post("/api/jobs", JOB)).body;
    await fireAlarm(ada.identity_id);
    await fireAlarm(bob.identity_id);
    const { body } = await server.send("GET", "/api/jobs");
    expect(body.jobs.map((job: { id: string }) => job.id)).toEqual([job_id, own[1], own[0]]);
    expect(body.jobs.map((job: { identity_id: string }) => job.identity_id)).toEqual([
      bob.identity_id,
      ada.identity_id,
      ada.identity_id,
    ]);
    const first = (await server.send("GET", "/api/jobs?limit=2")).body;
    const rest = (await server.send("GET", `/api/jobs?limit=2&cursor=${first.next_cursor}`)).body;
    expect([...first.jobs, ...rest.jobs]).toEqual(body.jobs);
    const completed = (await server.send("GET", "/api/jobs?status=completed&app=sketch")).body;
    expect(completed.jobs.map((job: { id: string }) => job.id)).toEqual([own[0]]);
    const future = "/api/jobs?from=2100-01-01T00:00:00Z";
    expect((await server.send("GET", future)).body.jobs).toEqual([]);
    expect((await app.in(ada.identity_id).get("/api/jobs")).body.jobs).toHaveLength(2);
  });

  it("an app's key shows no other app's jobs, and no other key shows these", async () => {
    const { server, app, ada } = await openAccounts();
    await fireAlarm(ada.identity_id);
    expect((await server.send("GET", "/api/jobs?app=other")).body.code).toBe("scope");
    const stranger = serverOf(await openAppServer("stranger", {}, app.operator));
    expect((await stranger.send("GET", "/api/jobs")).body.jobs).toEqual([]);
    await app.operator.send("DELETE", `/api/admin/apps/sketch/keys/${app.key_id}`);
    expect((await server.send("GET", "/api/jobs")).status).toBe(401);
  });
});

describe("the limit of lists in all accounts", () => {
  it("an app lists its jobs in all accounts 20 times a minute, and in one account still more often", async () => {
    await earlyInAMinute();
    const { server, of_ada } = await openAccounts();
    for (let time = 0; time < 20; time += 1) {
      expect((await server.send("GET", "/api/jobs?limit=1")).status).toBe(200);
    }
    const databases = vi.spyOn(env.DB, "prepare");
    const refused = await server.send("GET", "/api/jobs?limit=1");
    expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    expect(databases).not.toHaveBeenCalled();
    expect((await of_ada.get("/api/jobs")).status).toBe(200);
    const stranger = serverOf(await openAppServer("stranger"));
    expect((await stranger.send("GET", "/api/jobs")).status).toBe(200);
  });
});

describe("GET /api/app", () => {
  it("GET /api/app shows the app of the key, with the starter credits of today", async () => {
    const { server, ada } = await openAccounts();
    await fireAlarm(ada.identity_id);
    expect((await server.send("GET", "/api/app")).body).toEqual({
      slug: "sketch",
      name: "An app",
      settle: "holder",
      on_expiry: "refund",
      starter_credits: 30,
      daily_starter_budget: null,
      granted_today: 30,
      paused: null,
    });
  });

  it("GET /api/app refuses a person's token and a request without a key", async () => {
    const ada = await signIn();
    const refused = { status: 401, body: { code: "unauthorized" } };
    expect(await ada.get("/api/app")).toMatchObject(refused);
    expect(await send("GET", "/api/app")).toMatchObject(refused);
  });

  it("without the read model, GET /api/app lacks only granted_today", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const { app } = await openAccounts();
    const settings = { ...app.operator.settings, DB: null };
    const server = serverOf({ ...app, operator: { ...app.operator, settings } });
    const { body } = await server.send("GET", "/api/app");
    expect(body).toMatchObject({ slug: "sketch", granted_today: null });
    expect(logged).toHaveBeenCalledWith({ event: "read_model_unreadable", name: "TypeError" });
  });
});

describe("GET /api/ledger with an app's key", () => {
  it("GET /api/ledger with an app's key shows the entries of the app's own jobs and grants, as the holder sees them without notes", async () => {
    const { ada, own, of_ada, app } = await openAccounts();
    const refund = `/api/admin/accounts/${ada.identity_id}/jobs/${own[0]}/refund`;
    const key = { "Idempotency-Key": "one" };
    await app.operator.send("POST", refund, { reason: "a private reason" }, key);
    const { entries } = (await of_ada.get("/api/ledger")).body;
    const all = (await ada.get("/api/ledger")).body.entries as { app: string | null; note: null }[];
    const visible = all.filter((entry) => entry.app === "sketch");
    expect(visible.map(({ note }) => note)).toContain("a private reason");
    expect(entries).toEqual(visible.map((entry) => ({ ...entry, note: null })));
    expect(entries.length).toBeGreaterThan(4);
    expect(all.length).toBeGreaterThan(entries.length);
    for (const query of ["app=other", "kind=adjustment", "limit=1&kind=open"]) {
      expect((await of_ada.get(`/api/ledger?${query}`)).body.entries, query).toEqual([]);
    }
  });

  it("GET /api/ledger of an account that was not opened for the app, or in which the app was stopped, is 404", async () => {
    const { ada, app, of_ada } = await openAccounts();
    const eve = await signIn("eve@example.com");
    await eve.get("/api/wallet");
    const unknown = { status: 404, body: { code: "account_unknown" } };
    expect(await app.in(eve.identity_id).get("/api/ledger")).toMatchObject(unknown);
    expect(await app.in("user_nobody").get("/api/ledger")).toMatchObject(unknown);
    await stop(ada.identity_id);
    expect(await of_ada.get("/api/ledger")).toMatchObject(unknown);
  });
});

/** Opens a stream with the app's key. */
async function connect(
  { key, operator }: AppServer,
  identity_id: string,
  query = "",
): Promise<Response> {
  const headers = {
    Upgrade: "websocket",
    Authorization: `Bearer ${key}`,
    "Passbook-Identity": identity_id,
  };
  const request = new Request(new URL(`/api/events${query}`, BASE_URL), { headers });
  return worker.fetch(request, environmentWith(operator.settings), createExecutionContext());
}

const stop = (identity_id: string) =>
  env.ACCOUNT.getByName(identity_id).stopApp(
    { kind: "holder" },
    { slug: "sketch", started_jobs: "keep" },
  );

describe("GET /api/events with an app's key", () => {
  /** Opens a WebSocket of the app's server, and collects its messages. */
  async function watch(server: AppServer, identity_id: string, after = "") {
    const response = await connect(server, identity_id, after);
    const socket = response.webSocket;
    if (socket === null) throw new Error(await response.text());
    const messages: Record<string, unknown>[] = [];
    const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve));
    socket.addEventListener("message", ({ data }) => {
      messages.push(JSON.parse(String(data)));
    });
    socket.accept();
    return { messages, closed };
  }
  const settle = () => new Promise((resolve) => setTimeout(resolve, 30));

  it("a stream of an app's key sends only the entries of the app's own jobs and grants, live and in replays", async () => {
    const { app, ada, own } = await openAccounts();
    const replayed = await watch(app, ada.identity_id, "?after=0");
    const live = await watch(app, ada.identity_id);
    const other = (await ada.post("/api/jobs", { ...JOB, app: "other" })).body.job_id;
    const mine = (await ada.post("/api/jobs", JOB)).body.job_id;
    await settle();
    expect(live.messages.map(({ kind }) => kind)).toEqual(["snapshot", "reserve"]);
    expect(live.messages[1]).toMatchObject({ app: "sketch", job: { id: mine } });
    expect(new Set(replayed.messages.map((message) => message["app"]))).toEqual(
      new Set(["sketch"]),
    );
    expect(JSON.stringify(replayed.messages)).toContain(own[0]);
    expect(JSON.stringify([live.messages, replayed.messages])).not.toContain(other);
  });

  it("a stream of an app's key ends when the holder stops the app, and a minute after its key was checked", async () => {
    const { app, ada } = await openAccounts();
    const timed = await watch(app, ada.identity_id);
    passTime(61_000);
    await ada.post("/api/jobs", { ...JOB, app: "other" });
    expect(await timed.closed).toMatchObject({ code: 4401 });
    const stopped = await watch(app, ada.identity_id);
    await stop(ada.identity_id);
    await ada.post("/api/jobs", { ...JOB, app: "other" });
    expect(await stopped.closed).toMatchObject({ code: 4401 });
    expect((await connect(app, ada.identity_id)).status).toBe(404);
  });

  it("an app that is connected again lists and replays only the entries since then, because each has a balance", async () => {
    const { app, ada, of_ada } = await openAccounts();
    const { job_id } = (await of_ada.post("/api/jobs", JOB)).body;
    await stop(ada.identity_id);
    await of_ada.post("/api/jobs/complete", { job_id, actual_cost: 1 });
    const account = env.ACCOUNT.getByName(ada.identity_id);
    await account.allowApp({ kind: "holder" }, "sketch");
    expect((await of_ada.get("/api/ledger")).body.entries).toEqual([]);
    const since = (await of_ada.post("/api/jobs", JOB)).body.job_id;
    const { entries } = (await of_ada.get("/api/ledger")).body;
    expect(entries.map((entry: { job_id: string }) => entry.job_id)).toEqual([since]);
    const { messages } = await watch(app, ada.identity_id, "?after=0");
    await settle();
    expect(messages).toMatchObject([{ kind: "reserve", job: { id: since } }]);
  });

  it("a stream of an app's key needs the header Passbook-Identity, and an account that is open for the app", async () => {
    const { app, server } = await openAccounts();
    expect((await server.send("GET", "/api/events")).body.code).toBe("identity_required");
    expect((await connect(app, "user_nobody")).status).toBe(404);
  });
});
