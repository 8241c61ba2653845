/** What operators see of the service's requests: by the API and in the console, from memory and from Cloudflare. */
import { describe, expect, it, vi } from "vitest";
import { signInOperator, SETTINGS } from "../http/api/admin/operators.ts";
import { send, signInWithCredits } from "../support/passbook.ts";
import { openConsole, words } from "../web/console/pages.ts";

const list = (body: unknown, name = "requests") =>
  (body as Record<string, readonly Record<string, unknown>[]>)[name] ?? [];

/** Cloudflare's API, which responds with these rows, or with a status. */
function openCloudflare(respond: (query: string) => readonly object[] | number) {
  const queries: string[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    expect(request.url).toBe(
      `https://api.cloudflare.com/client/v4/accounts/${READER.account_id}/analytics_engine/sql`,
    );
    expect(request.headers.get("Authorization")).toBe(`Bearer ${READER.token}`);
    const query = await request.text();
    queries.push(query);
    const answer = respond(query);
    return typeof answer === "number"
      ? new Response("no", { status: answer })
      : Response.json({ data: answer, rows: answer.length });
  });
  return queries;
}

const READER = { account_id: "0123456789abcdef0123456789abcdef", token: "a-token-of-cloudflare" };
const WITH_METRICS = { ...SETTINGS, METRICS_READER: JSON.stringify(READER) };

describe("a local service", () => {
  it("shows the last requests from memory: failed ones, and those of a request id, an account or an app", async () => {
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    const headers = { "CF-Ray": "ray-of-ada", Authorization: `Bearer ${ada.token}` };
    await send("GET", "/api/wallet?app=demo", { headers }, SETTINGS);
    await send("GET", "/api/wallet", {}, SETTINGS);
    const of_ray = await olga.get("/api/admin/requests?request_id=ray-of-ada");
    expect(of_ray).toMatchObject({
      status: 200,
      body: {
        source: "memory",
        requests: [
          { route: "/api/wallet", status: 200, caller: "session", code: null, account_calls: 1 },
        ],
      },
    });
    const [found] = list(of_ray.body);
    const of_ada = await olga.get("/api/admin/requests?account=ada@example.com");
    expect(list(of_ada.body).map(({ request_id }) => request_id)).toContain("ray-of-ada");
    expect(list(of_ada.body).every(({ account }) => account === found?.["account"])).toBe(true);
    const none = await olga.get("/api/admin/requests?account=somebody-else");
    expect(list(none.body)).toEqual([]);
    const failed = await olga.get("/api/admin/requests");
    expect(list(failed.body)).toEqual([]);
    expect(list(failed.body, "routes")).toContainEqual(
      expect.objectContaining({ method: "GET", route: "/api/wallet", requests: 2, failed: 0 }),
    );
    expect((failed.body as { hour: object }).hour).toMatchObject({ failed: 0, limited: 0 });
    for (const { text } of [of_ray, of_ada]) {
      expect(text).not.toContain(ada.identity_id);
      expect(text).not.toContain("example.com");
    }
  });

  it("the console's page finds a request by its id, and says where the data is from", async () => {
    const { open } = await openConsole();
    await send("GET", "/api/wallet", { headers: { "CF-Ray": "ray-7" } }, SETTINGS);
    const found = await open("/console/requests?request_id=ray-7");
    expect(found.status).toBe(200);
    expect(words(found.text)).toContain("GET /api/wallet ray-7 401 unauthorized");
    expect(words(found.text)).toContain("This local service remembers its last 1,000 requests.");
    const none = await open("/console/requests?request_id=ray-8");
    expect(words(none.text)).toContain("No requests match.");
    const unknown = await open("/console/requests?account=nobody@example.com");
    expect(unknown.status).toBe(404);
    const no_id = await open("/console/requests?request_id=ada@example.com");
    expect(no_id.status).toBe(400);
    expect(words(no_id.text)).toContain("This is not the id of a request.");
    // A request id that is no operator's action leads here.
    const searched = await open("/console/search?q=ray-7");
    expect(searched.text).toContain('href="/console/requests?request_id=ray-7"');
  });
});

describe("a service with metrics", () => {
  it("writes one data point a request, also of those that are not logged, without input and identities", async () => {
    const points: { indexes: string[]; blobs: string[]; doubles: number[] }[] = [];
    const METRICS = { writeDataPoint: (point: (typeof points)[number]) => points.push(point) };
    const settings = { ...WITH_METRICS, METRICS };
    const ada = await signInWithCredits();
    vi.spyOn(Math, "random").mockReturnValue(0.999);
    const log = vi.spyOn(console, "log").mockReturnValue();
    const headers = { "CF-Ray": "ray-1", Authorization: `Bearer ${ada.token}` };
    await send("GET", "/api/jobs?app=secret-word", { headers }, settings);
    await send("GET", "/api/nothing/secret-word", {}, settings);
    expect(log).toHaveBeenCalledTimes(1);
    expect(points).toEqual([
      {
        indexes: ["/api/jobs"],
        blobs: ["ray-1", "GET", "/api/jobs", "", "", "session", expect.any(String), ...RELEASE],
        doubles: [200, expect.any(Number), expect.any(Number), 1],
      },
      {
        indexes: [""],
        blobs: [expect.any(String), "GET", "", "not_found", "", "", "", ...RELEASE],
        doubles: [404, expect.any(Number), expect.any(Number), 0],
      },
    ]);
    expect(JSON.stringify(points)).not.toMatch(/secret-word|example\.com/);
    expect(JSON.stringify(points)).not.toContain(ada.identity_id);
    expect(points[0]?.blobs[6]).toHaveLength(43);
  });

  it("reads them from Cloudflare, and refuses text that is no id", async () => {
    const olga = await signInOperator();
    const queries = openCloudflare((query) =>
      query.includes("group by")
        ? [{ method: "GET", route: "", requests: "7", failed: 1, limited: 0, p50_ms: 3, p95_ms: 9 }]
        : query.includes("as request_id")
          ? [POINT]
          : [{ requests: "12", failed: "1", limited: "2" }],
    );
    const read = (query: string) =>
      send(
        "GET",
        `/api/admin/requests${query}`,
        { headers: { Cookie: olga.person.cookies, "Sec-Fetch-Site": "same-origin" } },
        WITH_METRICS,
      );
    expect(await read("?request_id=ray-1&app=demo")).toMatchObject({
      status: 200,
      body: {
        source: "metrics",
        hour: { requests: 12, failed: 1, limited: 2 },
        routes: [{ route: null, requests: 7 }],
        requests: [
          { request_id: "ray-1", code: null, app: "demo", at: "2026-11-27T00:00:00.000Z" },
        ],
      },
    });
    expect(queries.at(-1)).toMatch(/blob1 in \('ray-1'\) and blob5 in \('demo'\)/);
    const asked = queries.length;
    expect((await read("?request_id=' or 1=1")).status).toBe(400);
    expect(queries).toHaveLength(asked);
  });

  it("a data point that cannot be written changes no response", async () => {
    const METRICS = {
      writeDataPoint() {
        throw new TypeError("no dataset");
      },
    };
    const ada = await signInWithCredits();
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const headers = { Authorization: `Bearer ${ada.token}` };
    const { status } = await send("GET", "/api/wallet", { headers }, { ...WITH_METRICS, METRICS });
    expect(status).toBe(200);
    expect(warn).toHaveBeenCalledWith({ event: "metrics_unwritable", reason: "TypeError" });
  });

  it.each([
    ["403", 403],
    ["500", 500],
    ["rows without columns", [{}]],
    ["a count that is no number", [{ requests: "x", failed: 0, limited: 0 }]],
  ])("says that Cloudflare does not respond with metrics: %s", async (_, response) => {
    const { open } = await openConsole();
    openCloudflare(() => response);
    const page = await open("/console/requests", WITH_METRICS);
    expect(page.status).toBe(503);
    expect(words(page.text)).toContain("does not accept METRICS_READER");
  });
});

/** The release, and no location outside of Cloudflare's network. */
const RELEASE = [expect.any(String), ""];

const POINT = {
  request_id: "ray-1",
  method: "GET",
  route: "/api/wallet",
  code: "",
  app: "demo",
  caller: "session",
  account: "",
  release: "",
  colo: "FRA",
  status: 200,
  duration_ms: 4,
  account_calls: 2,
  at_ms: Date.UTC(2026, 10, 27),
};
