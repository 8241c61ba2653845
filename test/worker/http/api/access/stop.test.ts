/** What each credential can do before a person stops an app, while it is stopped, and after they allowed it again. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { STOP_FACTS } from "../../../../../src/domain/app_stop.ts";
import { query } from "../../../support/account_object.ts";
import { fromOwnPage } from "../../../support/device_logins.ts";
import { ACCESS_TOKEN_TYPE, TOKEN_EXCHANGE } from "../../../support/exchanges.ts";
import { chargingToken, openChargingApp } from "../../../support/charging.ts";
import {
  connect,
  oauthServices,
  post,
  refresh,
  RESOURCE,
  withToken,
} from "../../../support/oauth_clients.ts";
import { passTime } from "../../../support/clock.ts";
import { BASE_URL, send, signIn, type SignedIn } from "../../../support/passbook.ts";
import { openAppServer, type AppServer } from "../../caller/app_server.ts";
import { personalToken } from "../admin/operators.ts";

const PAGE = "https://demo.example";
const JOB = { app: "demo", action: "draw", cost_estimate: 1 };

type Headers = Readonly<Record<string, string>>;

let server: AppServer;
let ada: SignedIn;
let credentials: Readonly<Record<string, Headers>>;

async function call(headers: Headers, method: string, path: string, body?: object) {
  const init = { headers: { ...headers, "Content-Type": "application/json" } };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return send(method, path, { ...init, ...text }, server.operator.settings);
}

const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` });

async function tokenWith(limits: object): Promise<Headers> {
  const settings = server.operator.settings as Record<string, unknown>;
  return bearer((await personalToken(ada, limits, settings))?.token ?? "");
}

const stop = (started_jobs: "keep" | "expire" = "keep") =>
  call(fromOwnPage(ada), "POST", "/api/access/apps/demo/stop", { started_jobs });
const allow = (headers: Headers = fromOwnPage(ada)) =>
  call(headers, "POST", "/api/access/apps/demo/allow");

async function start(headers: Headers = fromOwnPage(ada)): Promise<string> {
  return (await call(headers, "POST", "/api/jobs", JOB)).body.job_id;
}

beforeEach(async () => {
  server = await openAppServer("demo", { settle: "holder", origins: [PAGE] as never[] });
  ada = await signIn("ada@example.com", server.operator.settings);
  const from_page = { Cookie: ada.cookies, Origin: PAGE };
  const { token } = (await call(from_page, "GET", "/api/sessionToken")).body;
  await call(fromOwnPage(ada), "GET", "/api/wallet?app=demo");
  const token_headers = await tokenWith({});
  const exchanged = await post(
    "/oauth/token",
    {
      grant_type: TOKEN_EXCHANGE,
      subject_token: token_headers["Authorization"]?.slice("Bearer ".length) ?? "",
      subject_token_type: ACCESS_TOKEN_TYPE,
      scope: "write",
    },
    {},
    server.operator.settings,
  );
  credentials = {
    "own page": fromOwnPage(ada),
    "page's token": bearer(token),
    "page's cookie": from_page,
    key: { ...bearer(server.key), "Passbook-Identity": ada.identity_id },
    token: token_headers,
    "exchanged token": bearer(exchanged.body.access_token),
    "another client": bearer((await connect(ada)).access_token),
    "capped token": await tokenWith({ caps: [{ credits: 50, period: "total" }] }),
  };
});

/** The status or code of each attempt. `job_id`: a started job of the app. */
async function attempts(headers: Headers, job_id: string): Promise<Record<string, unknown>> {
  const outcome = async (method: string, path: string, body?: object) => {
    const response = await call(headers, method, path, body);
    return response.body?.code ?? response.status;
  };
  return {
    wallet: await outcome("GET", "/api/wallet"),
    list: await outcome("GET", "/api/jobs"),
    ledger: await outcome("GET", "/api/ledger"),
    create: await outcome("POST", "/api/jobs", JOB),
    read: await outcome("GET", `/api/jobs/${job_id}`),
    sessionToken: await outcome("GET", "/api/sessionToken"),
    upstream: await outcome("GET", "/api/oauthToken/acme"),
    me: await outcome("GET", "/api/me"),
    complete: await outcome("POST", "/api/jobs/complete", { job_id, actual_cost: 1 }),
  };
}

async function table(): Promise<Record<string, Record<string, unknown>>> {
  const rows: Record<string, Record<string, unknown>> = {};
  for (const [name, headers] of Object.entries(credentials)) {
    rows[name] = await attempts(headers, started.shift() ?? "");
  }
  return rows;
}

/** Jobs that were started before the stop: one for each credential and period. */
let started: string[] = [];
async function startJobs(): Promise<void> {
  started = [];
  for (const _ of [1, 2, 3]) {
    for (const name of Object.keys(credentials)) {
      const of_token = name === "capped token" ? credentials[name] : undefined;
      started.push(await start(of_token));
    }
  }
}

const PAGE_STOPPED = {
  wallet: "app_stopped",
  list: "app_stopped",
  ledger: "app_stopped",
  create: "app_stopped",
  read: 200,
  sessionToken: "app_stopped",
  upstream: "scope",
  me: 200,
  complete: 200,
};

describe("a stopped app", () => {
  it("every credential can do what the table says before, during and after the stop", async () => {
    await startJobs();
    const before = await table();
    expect((await stop()).body.app).toMatchObject({ slug: "demo", state: "stopped" });
    const stopped = await table();
    const unknown = "account_unknown";
    expect(stopped).toEqual({
      ...before,
      "page's token": PAGE_STOPPED,
      "page's cookie": PAGE_STOPPED,
      key: { ...before["key"], wallet: unknown, list: unknown, ledger: unknown, create: unknown },
      token: { ...before["token"], create: "app_stopped" },
      "exchanged token": { ...before["exchanged token"], create: "app_stopped" },
      "another client": { ...before["another client"], create: "app_stopped" },
      "capped token": { ...before["capped token"], create: "app_stopped" },
    });
    expect((await allow()).body.app).toMatchObject({ slug: "demo", state: "open" });
    expect(await table()).toEqual(before);
    expect(before["page's token"]).toMatchObject({ wallet: 200, create: 200, sessionToken: 200 });
    for (const name of ["exchanged token", "another client"]) {
      expect(before[name], name).toMatchObject({ wallet: 200, create: 200, complete: 200 });
    }
    expect(before["key"]).toMatchObject({ wallet: 200, create: 200, complete: 200 });
  });

  it("a stopped app learns no balance from the jobs that it ends, and does not see later ones", async () => {
    const [one, two] = [await start(), await start()];
    await stop();
    const later = await start();
    for (const [name, job_id] of [
      ["key", one],
      ["page's token", two],
    ] as const) {
      const headers = credentials[name] ?? {};
      const ended = await call(headers, "POST", "/api/jobs/complete", { job_id, actual_cost: 1 });
      expect(ended).toMatchObject({ status: 200, body: { credits: null } });
      expect((await call(headers, "GET", `/api/jobs/${later}`)).status).toBe(404);
    }
  });

  it("a stopped app cannot complete a job at more than it holds or was estimated, and at most by as much once it expired", async () => {
    const jobs = await Promise.all([start(), start(), start()]);
    const [by_key, by_page, raised] = jobs;
    const key = credentials["key"] ?? {};
    const raise = { job_id: raised, step: 1, reserve: 5 };
    expect((await call(key, "POST", "/api/jobs/progress", raise)).status).toBe(200);
    await stop();
    const complete = (headers: Headers, job_id: string, actual_cost: number) =>
      call(headers, "POST", "/api/jobs/complete", { job_id, actual_cost });
    for (const [headers, job_id, limit] of [
      [key, by_key, 1],
      [credentials["page's token"] ?? {}, by_page, 1],
      [key, raised, 5],
    ] as const) {
      const refused = await complete(headers, job_id, limit + 1);
      expect(refused).toMatchObject({ status: 400, body: { code: "overage_limit", limit } });
    }
    expect((await complete(key, by_key, 1)).body.job.actual_cost).toBe(1);
    await stop("expire");
    expect((await complete(key, raised, 6)).body).toMatchObject({ code: "overage_limit" });
    expect((await complete(key, raised, 5)).body.job.actual_cost).toBe(5);
    await allow();
    const items = [{ job_id: by_page, actual_cost: 30 }];
    const later = await call(key, "POST", "/api/jobs/complete/batch", { jobs: items });
    expect(later.body.results).toMatchObject([{ job: { actual_cost: 30 } }]);
  });

  it("only our own pages allow an app, and a token without limits may stop one", async () => {
    const path = "/api/access/apps/demo/stop";
    const page = await call({ Cookie: ada.cookies }, "GET", "/account/tokens/new");
    expect(page.text).toContain("what else has access, can stop apps, and can open a checkout");
    for (const name of ["page's token", "page's cookie", "capped token"]) {
      expect((await call(credentials[name] ?? {}, "POST", path, {})).body.code).toBe("scope");
    }
    expect((await call(credentials["token"] ?? {}, "POST", path, {})).status).toBe(200);
    expect((await allow(credentials["token"])).body.code).toBe("scope");
    expect((await allow(credentials["page's token"])).body.code).toBe("app_stopped");
    expect((await call(fromOwnPage(ada), "POST", "/api/access/apps/never/stop", {})).status).toBe(
      404,
    );
  });

  it("started jobs expire with the stop if the person chooses so", async () => {
    const job_id = await start();
    expect((await stop("keep")).body.app.started_jobs).toBe(1);
    expect((await stop("expire")).body.app.started_jobs).toBe(0);
    const { body } = await call(fromOwnPage(ada), "GET", `/api/jobs/${job_id}`);
    expect(body).toMatchObject({ status: "failed", failure: "expired" });
  });

  it("of attempts at the moment of a stop, none that commits after it starts a job", async () => {
    const names = ["page's token", "page's cookie", "key", "token", "capped token"];
    const tries = Array.from({ length: 20 }, (_, index) =>
      call(credentials[names[index % names.length] ?? ""] ?? {}, "POST", "/api/jobs", JOB),
    );
    const [stopped, ...responses] = await Promise.all([stop(), ...tries]);
    expect(stopped.status).toBe(200);
    const created = responses.filter(({ status }) => status === 200).length;
    const [after] = await query<{ late: number; jobs: number }>(
      ada.identity_id,
      `select count(*) as jobs, coalesce(sum(id > coalesce(
         (select stopped_after_job_id from apps where slug = 'demo'), '')), 0) as late from jobs`,
    );
    expect(after).toEqual({ jobs: created, late: 0 });
  });

  it("the connections of a client end for good when its app is stopped", async () => {
    const person = await signIn();
    const own = await connect(person);
    const host = "client.example.com";
    await person.post("/api/jobs", { ...JOB, app: host, cost_estimate: 0 });
    const json = { ...fromOwnPage(person), "Content-Type": "application/json" };
    const path = `/api/access/apps/${host}/stop`;
    expect((await send("POST", path, { headers: json, body: "{}" })).status).toBe(200);
    expect((await withToken(own.access_token, "GET", "/api/wallet")).status).toBe(401);
    expect((await refresh(own.refresh_token)).body.error).toBe("invalid_grant");
    await send("POST", `/api/access/apps/${host}/allow`, { headers: fromOwnPage(person) });
    expect((await withToken(own.access_token, "GET", "/api/wallet")).status).toBe(401);
  });

  it("connections to a resource end with the stop of the app that owns it now", async () => {
    await openChargingApp();
    const person = await signIn();
    const tokens = await connect(person, { resource: RESOURCE, resource_app_slug: "sketch" });
    await env.DIRECTORY.exec("update resources set app_slug = 'other'");
    oauthServices().apps.forget();
    await person.post("/api/jobs", { ...JOB, app: "other", cost_estimate: 0 });
    const json = { ...fromOwnPage(person), "Content-Type": "application/json" };
    const init = { headers: json, body: "{}" };
    expect((await send("POST", "/api/access/apps/other/stop", init)).status).toBe(200);
    expect((await refresh(tokens.refresh_token)).body.error).toBe("invalid_grant");
    // A resource that does not ask accepts it until it expires.
    const { resource_tokens } = oauthServices();
    expect(await resource_tokens.verify(BASE_URL, tokens.access_token)).not.toBeNull();
    expect(STOP_FACTS.connections_end).toContain("those to a resource stop there within ten min");
    passTime(10 * 60_000 + 6_000);
    expect(await resource_tokens.verify(BASE_URL, tokens.access_token)).toBeNull();
  });

  it("an app that only connections used does not become open by being stopped and allowed", async () => {
    const charging = await openChargingApp();
    const person = await signIn();
    const { access_token } = await connect(person, {
      resource: RESOURCE,
      resource_app_slug: "sketch",
      scopes: ["tools", "charge"],
      limits: {
        app_slugs: ["sketch"],
        caps: [{ credits: 50, period: "total" }],
        expires_at_ms: Date.now() + 86_400_000,
      },
    });
    const charge = await chargingToken(access_token);
    const free = { app: "sketch", action: "draw", cost_estimate: 0 };
    expect((await withToken(charge, "POST", "/api/jobs", free)).status).toBe(200);
    const own = fromOwnPage(person);
    const json = { ...own, "Content-Type": "application/json" };
    const act = (name: string) =>
      send("POST", `/api/access/apps/sketch/${name}`, { headers: json, body: "{}" });
    const wallet = async () => (await charging.in(person.identity_id).get("/api/wallet")).body.code;
    expect(await wallet()).toBe("account_unknown");
    expect((await act("stop")).body.app).toMatchObject({ slug: "sketch", state: "stopped" });
    expect(await act("allow")).toMatchObject({ status: 200, body: { app: null } });
    expect(await wallet()).toBe("account_unknown");
    const { body } = await send("GET", "/api/access", { headers: own });
    const slugs = body.apps.map(({ slug }: { slug: string }) => slug);
    expect(slugs).toEqual(["demo"]);
    expect((await person.post("/api/jobs", free)).status).toBe(200);
    expect(await wallet()).toBeUndefined();
  });

  it("the sign-in page says that the app is stopped, and gives it no token before it is allowed", async () => {
    await stop();
    const back = encodeURIComponent(`${PAGE}/back`);
    const page = await call({ Cookie: ada.cookies }, "GET", `/signin?redirect_to=${back}`);
    expect(page.text).toContain("You stopped");
    expect(page.text).toContain(STOP_FACTS.nothing_starts);
    const form = new URLSearchParams({ redirect_to: `${PAGE}/back` });
    const post = (path: string, body: URLSearchParams) =>
      send("POST", path, { headers: fromOwnPage(ada), body }, server.operator.settings);
    const refused = await post("/signin/continue", form);
    expect(refused.headers.get("Location")).toContain("/signin?redirect_to=");
    const allowed = new URLSearchParams({ app: "demo", back: `/signin?redirect_to=${back}` });
    expect((await post("/signin/allow", allowed)).status).toBe(303);
    expect((await post("/signin/continue", form)).headers.get("Location")).toContain("token=");
  });
});
