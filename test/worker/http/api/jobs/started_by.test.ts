import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import worker from "../../../../../src/worker.ts";
import { fireAlarm } from "../../../support/account_object.ts";
import {
  approve,
  fromOwnPage,
  getToken,
  holderOf,
  ownSessionToken,
  poll,
  startLogin,
  tokenId,
} from "../../../support/device_logins.ts";
import { narrow, total } from "../../../support/exchanges.ts";
import { connect } from "../../../support/oauth_clients.ts";
import {
  BASE_URL,
  forgetEnvironments,
  send,
  signInWithCredits,
  type Answer,
} from "../../../support/passbook.ts";
import { deliver, openReceiver } from "../../../webhooks/receiver.ts";
import { openAppServer } from "../../caller/app_server.ts";

const PAGE = "https://demo.example";
const JOB = { app: "demo", action: "draw", cost_estimate: 3 };
const CONNECTION = { kind: "connection", name: "A client" };

/** Sends requests with one credential. */
type Caller = Pick<ReturnType<typeof holderOf>, "get" | "post">;

const idOf = (token: Pick<ReturnType<typeof holderOf>, "token">) => tokenId(holderOf(token.token));

async function sessionOf(page: string, cookies: string): Promise<Caller> {
  const headers = { Cookie: cookies, Origin: page };
  return holderOf((await send("GET", "/api/sessionToken", { headers })).body.token);
}

/** A person with every kind of credential, each with what it is as `by`. */
async function openCredentials() {
  const server = await openAppServer("demo", {
    name: "Demo",
    starter_credits: 100,
    origins: [PAGE] as never,
    settle: "holder",
  });
  const ada = await signInWithCredits();
  const { refresh_token, access_token } = await connect(ada);
  const child_tokens = await narrow(refresh_token, total(50));
  const grandchild_tokens = await narrow(child_tokens.refresh_token, total(40));
  const connection = holderOf(access_token);
  const child = holderOf(child_tokens.access_token);
  const grandchild = holderOf(grandchild_tokens.access_token);
  const device = await startLogin({ client_name: "My laptop" });
  await approve(ada, device.user_code);
  const token = holderOf((await poll(device.device_code)).body.token);
  const capped = await getToken(ada, total(20), { client_name: "Agent" });
  const root_id = await idOf(connection);
  const callers: Readonly<Record<string, readonly [Caller, object]>> = {
    "our own page": [
      holderOf(await ownSessionToken(ada)),
      { kind: "browser", id: null, name: null },
    ],
    "a page of no app": [ada, { kind: "browser", id: null, name: null }],
    "an app's key": [server.in(ada.identity_id), { kind: "app", id: "demo", name: "Demo" }],
    "an app's page": [
      await sessionOf(PAGE, ada.cookies),
      { kind: "app", id: "demo", name: "Demo" },
    ],
    "a connection": [connection, { ...CONNECTION, id: root_id }],
    "an exchanged token": [child, { ...CONNECTION, id: await idOf(child), root_id }],
    "a token exchanged twice": [grandchild, { ...CONNECTION, id: await idOf(grandchild), root_id }],
    "a personal token": [token, { kind: "token", id: await idOf(token), name: "My laptop" }],
    "a capped token": [capped, { kind: "token", id: await idOf(capped), name: "Agent" }],
  };
  return { ada, server, callers, connection, child, token, capped, root_id };
}

async function create(caller: Caller): Promise<string> {
  const created = await caller.post("/api/jobs", JOB);
  expect(created.status, created.text).toBe(200);
  return created.body.job_id;
}

/** The jobs of a stream from its beginning, by id, as the stream shows them. */
async function streamedJobs(token: string, headers: Record<string, string> = {}) {
  // These services may have read the registry before the app's key was made, and look for an unknown key once in 5 seconds.
  forgetEnvironments();
  const request = new Request(`${BASE_URL}/api/events?after=1`, {
    headers: { Upgrade: "websocket", Authorization: `Bearer ${token}`, ...headers },
  });
  const response = await worker.fetch(request, env, createExecutionContext());
  expect(response.status).toBe(101);
  const socket = response.webSocket;
  if (socket === null) throw new Error("no socket");
  const jobs = new Map<string, unknown>();
  socket.addEventListener("message", ({ data }) => {
    const { job } = JSON.parse(String(data));
    if (job) jobs.set(job.id, job.by);
  });
  socket.accept();
  await expect.poll(() => jobs.size).toBeGreaterThan(0);
  socket.close();
  return jobs;
}

const byOf = ({ body }: Answer, id: string): unknown =>
  body.jobs.find((job: { id: string }) => job.id === id)?.by;

describe("what started a job", () => {
  it("every kind of credential is named wherever its job is shown", async () => {
    const { ada, server, callers } = await openCredentials();
    const { operator } = server;
    const own = callers["our own page"]?.[0] ?? ada;
    const started = new Map<string, object>();
    for (const [caller, by] of Object.values(callers)) started.set(await create(caller), by);
    await fireAlarm(ada.identity_id);
    const account = `/api/admin/accounts/${ada.identity_id}`;
    const listed = await own.get("/api/jobs");
    const of_account = await operator.get(`${account}/jobs`);
    const inspected = await operator.get(account);
    const found = await operator.get(`/api/admin/jobs?identity_id=${ada.identity_id}`);
    const { entries } = (await own.get("/api/ledger")).body;
    const streamed = await streamedJobs(await ownSessionToken(ada));
    const csv = await send("GET", "/account/statement.csv", { headers: fromOwnPage(ada) });
    const data = await send("GET", "/account/data.json", { headers: fromOwnPage(ada) });
    for (const [id, by] of started) {
      expect((await own.get(`/api/jobs/${id}`)).body.by).toEqual(by);
      expect((await operator.get(`${account}/jobs/${id}`)).body.by).toEqual(by);
      for (const answer of [listed, of_account, found]) expect(byOf(answer, id)).toEqual(by);
      expect(byOf({ ...inspected, body: { jobs: inspected.body.started_jobs } }, id)).toEqual(by);
      expect(byOf(data, id)).toEqual(by);
      expect(streamed.get(id)).toEqual(by);
      const of_job = (entry: { job_id: string | null }) => entry.job_id === id;
      expect(entries.filter(of_job)).toMatchObject([{ by }]);
      expect(data.body.ledger.filter(of_job)).toMatchObject([{ by }]);
      const { kind, id: by_id, name } = by as Record<string, string | null>;
      const cells = [kind, by_id, name].map((text) => (text === null ? "" : `"${text}"`));
      expect(csv.text).toMatch(new RegExp(`,"${id}",${cells.join(",")},,,-3,\\d+\r\n`));
    }
    expect(entries.filter((entry: { job_id: unknown }) => entry.job_id === null)).toMatchObject([
      { kind: "grant", by: null },
      { kind: "open", by: null },
    ]);
  });

  it("a job keeps what started it if another credential settles it", async () => {
    const { callers, ada } = await openCredentials();
    const own = callers["our own page"]?.[0] ?? ada;
    const settlers = ["our own page", "an app's key", "an app's page", "a personal token"];
    for (const [index, [caller, by]] of Object.values(callers).entries()) {
      const job_id = await create(caller);
      const [settler = ada] = callers[settlers[index % settlers.length] ?? ""] ?? [];
      const settled = await settler.post("/api/jobs/complete", { job_id, actual_cost: 1 });
      expect(settled.body.job?.by.id, settled.text).toBe((by as { id: string | null }).id);
      expect((await own.get(`/api/jobs/${job_id}`)).body.by).toEqual(by);
      const { entries } = (await own.get(`/api/ledger?job_id=${job_id}`)).body;
      expect(entries).toMatchObject([
        { kind: "settle", by },
        { kind: "reserve", by },
      ]);
    }
  });

  it("a job keeps the name of a token that was renamed and revoked since", async () => {
    const { ada, token, callers } = await openCredentials();
    const own = callers["our own page"]?.[0] ?? ada;
    const job_id = await create(token);
    const path = `/api/tokens/${await tokenId(token)}`;
    const headers = { ...fromOwnPage(ada), "Content-Type": "application/json" };
    const renamed = await send("PATCH", path, { headers, body: '{"label":"Other"}' });
    expect(renamed.status, renamed.text).toBe(200);
    expect((await send("DELETE", path, { headers: fromOwnPage(ada) })).status).toBe(200);
    expect((await own.get(`/api/jobs/${job_id}`)).body).toMatchObject({
      status: "failed",
      by: { kind: "token", name: "My laptop" },
    });
  });
});

describe("the pages", () => {
  it("pages name what started a job, say if it is not registered, and link to where it is stopped", async () => {
    const { ada, server, callers, root_id, token } = await openCredentials();
    const texts: readonly (readonly [string, string | null, string])[] = [
      ["our own page", null, "You, in a browser"],
      ["an app's key", null, '<a href="/account/access#app-demo">Demo</a>'],
      [
        "a connection",
        "by A client, not registered here",
        `<a href="/account/access#${root_id}">A client, not registered here</a>`,
      ],
      [
        "a personal token",
        "by token “My laptop”",
        `<a href="/account/access#${await idOf(token)}">token “My laptop”</a>`,
      ],
    ];
    const own = { headers: fromOwnPage(ada) };
    const connections = (await send("GET", "/account/access", own)).text;
    expect(connections).toContain(`<li id="${root_id}">`);
    for (const [name, in_lists, fact] of texts) {
      const id = await create(callers[name]?.[0] ?? ada);
      const row = (html: string, prefix: string) =>
        html.split(`id="${prefix}${id}"`)[1]?.split("</li>")[0] ?? "";
      expect((await send("GET", `/account/jobs/${id}`, own)).text).toContain(
        `<dt>Started by</dt><dd>${fact}</dd>`,
      );
      for (const path of ["/account", "/account/jobs", "/account/statement"]) {
        const [, by] =
          />(?: · )?(by [^<]*)</.exec(row((await send("GET", path, own)).text, "job-")) ?? [];
        expect([name, path, by ?? null]).toEqual([name, path, in_lists]);
      }
      const console_page = `/console/accounts/${ada.identity_id}`;
      const job_page = await server.operator.get(`${console_page}/jobs/${id}`);
      const [shown = ""] = /<dt>Started by<.dt><dd>[^<]*/.exec(job_page.text) ?? [];
      const [plain = ""] = fact.replace(/<[^>]*>/g, "").split("You, ");
      expect(shown.split("<dd>")[1]).toBe(plain === "" ? "Its holder, in a browser" : plain);
      if (in_lists !== null) {
        expect((await server.operator.get(console_page)).text).toContain(in_lists);
      }
    }
    const filters = (await send("GET", "/account/statement", own)).text;
    const options = [...filters.matchAll(/<option value="[0-9a-f-]{36}">([^<]*)</g)];
    expect(options.map(([, name = ""]) => name).toSorted()).toEqual(["A client", "My laptop"]);
  });
});

describe("the names of a person's tokens", () => {
  it("only our own pages, a token without limits, and the token itself learn the name of a token", async () => {
    const { ada, server, callers, token, connection, capped } = await openCredentials();
    const id = await create(token);
    const path = `/api/jobs/${id}`;
    const seen: Record<string, unknown> = {};
    for (const [name, [caller]] of Object.entries(callers)) {
      const { body } = await caller.get(path);
      const listed = byOf(await caller.get("/api/jobs"), id);
      const { entries } = (await caller.get(`/api/ledger?job_id=${id}`)).body;
      expect(body.by).toEqual({ kind: "token", id: await tokenId(token), name: body.by.name });
      expect([listed, entries[0].by]).toEqual([body.by, body.by]);
      seen[name] = body.by.name;
    }
    const named = ["our own page", "a personal token"];
    expect(seen).toEqual(
      Object.fromEntries(
        Object.keys(callers).map((name) => [name, named.includes(name) ? "My laptop" : null]),
      ),
    );
    const of_app = { Authorization: `Bearer ${server.key}` };
    await fireAlarm(ada.identity_id);
    const all = await send("GET", "/api/jobs", { headers: of_app }, server.operator.settings);
    expect(byOf(all, id)).toMatchObject({ kind: "token", name: null });
    const identity = { "Passbook-Identity": ada.identity_id };
    expect((await streamedJobs(server.key, identity)).get(id)).toMatchObject({ name: null });
    expect((await streamedJobs(connection.token)).get(id)).toMatchObject({ name: null });
    expect((await streamedJobs(capped.token)).get(id)).toMatchObject({ name: null });
    expect((await streamedJobs(token.token)).get(id)).toMatchObject({ name: "My laptop" });
    const own = await create(capped);
    expect((await capped.get(`/api/jobs/${own}`)).body.by.name).toBe("Agent");
    const ended = await server.in(ada.identity_id).post("/api/jobs/fail", { job_id: id });
    expect(ended.body.job.by).toMatchObject({ kind: "token", name: null });
  });

  it("a webhook has what started a job, without the name of a token", async () => {
    const { receiver, webhook } = await openReceiver({ events: ["job.created"] });
    const { ada, token, connection, root_id } = await openCredentials();
    await create(token);
    await create(connection);
    await deliver(webhook, ada.identity_id);
    const shown = receiver.received.map(({ body }) => body.data["job"].by);
    expect(shown).toEqual([
      { kind: "token", id: await tokenId(token), name: null },
      { ...CONNECTION, id: root_id },
    ]);
  });
});

describe("the filter by what started a job", () => {
  it("an id finds the jobs and entries of an app, a connection or a token, and of what was exchanged from it", async () => {
    const { ada, server, callers, child, capped, root_id } = await openCredentials();
    const own = callers["our own page"]?.[0] ?? ada;
    const ids: Record<string, string> = {};
    for (const [name, [caller]] of Object.entries(callers)) ids[name] = await create(caller);
    await fireAlarm(ada.identity_id);
    const account = `/api/admin/accounts/${ada.identity_id}`;
    const expected: readonly (readonly [string, readonly string[]])[] = [
      ["demo", ["an app's key", "an app's page"]],
      [root_id, ["a connection", "an exchanged token", "a token exchanged twice"]],
      [await idOf(child), ["an exchanged token", "a token exchanged twice"]],
      [await tokenId(capped), ["a capped token"]],
      ["nobody", []],
    ];
    for (const [by, names] of expected) {
      const jobs = names.map((name) => ids[name] ?? "").toSorted();
      const idsIn = ({ body }: Answer) => body.jobs.map((job: { id: string }) => job.id).toSorted();
      expect(idsIn(await own.get(`/api/jobs?by=${by}`))).toEqual(jobs);
      expect(idsIn(await own.get(`/api/jobs?by=${by}&status=started`))).toEqual(jobs);
      expect(idsIn(await server.operator.get(`${account}/jobs?by=${by}`))).toEqual(jobs);
      expect(idsIn(await server.operator.get(`/api/admin/jobs?by=${by}`))).toEqual(jobs);
      for (const { body } of [
        await own.get(`/api/ledger?by=${by}`),
        await server.operator.get(`${account}/ledger?by=${by}`),
      ]) {
        expect(body.entries.map((it: { job_id: string }) => it.job_id).toSorted()).toEqual(jobs);
      }
      const page = `/account/statement?by=${by}`;
      const { text } = await send("GET", page, { headers: fromOwnPage(ada) });
      const shown = [...text.matchAll(/<li id="job-([^"]+)"/g)].map(([, id = ""]) => id);
      expect(shown.toSorted()).toEqual(jobs);
    }
    const refused = await own.get("/api/jobs?by=Not%20an%20id");
    expect([refused.status, refused.body.code]).toEqual([400, "invalid_request"]);
  });
});
