import { afterEach, describe, expect, it, vi } from "vitest";
import { env } from "cloudflare:workers";
import { countRowsWritten, evict, fireAlarm, repeatAlarm } from "../../support/account_object.ts";
import { countedEnvironment } from "../../support/bindings.ts";
import { openIssuer, trust } from "../../support/issuer_double.ts";
import { send, signIn, signInWithCredits, type SignedIn } from "../../support/passbook.ts";

const ONE_OBJECT_CALL = { account: 1, d1: 0, kv: 0 };

/** Every money endpoint: its request, given the id of a started job. */
const ENDPOINTS: readonly [string, string, string, ((job_id: string) => object) | null][] = [
  ["wallet", "GET", "/api/wallet", null],
  ["wallet with app", "GET", "/api/wallet?app=demo", null],
  ["job list", "GET", "/api/jobs?app=demo&status=started", null],
  ["ledger", "GET", "/api/ledger", null],
  ["job read", "GET", "/api/jobs/:id", null],
  ["job create", "POST", "/api/jobs", () => ({ app: "demo", action: "draw", cost_estimate: 1 })],
  ["job complete", "POST", "/api/jobs/complete", (job_id) => ({ job_id, actual_cost: 1 })],
  [
    "batch create",
    "POST",
    "/api/jobs/batch",
    () => ({ jobs: [1, 2].map(() => ({ app: "demo", action: "draw", cost_estimate: 1 })) }),
  ],
  [
    "batch complete",
    "POST",
    "/api/jobs/complete/batch",
    (job_id) => ({ jobs: [{ job_id, actual_cost: 1 }] }),
  ],
  ["job progress", "POST", "/api/jobs/progress", (job_id) => ({ job_id, step: 1, spent: 1 })],
  ["job fail", "POST", "/api/jobs/fail", (job_id) => ({ job_id })],
];

async function startJob(ada: SignedIn): Promise<string> {
  const body = { app: "demo", action: "draw", cost_estimate: 1 };
  return (await ada.post("/api/jobs", body)).body.job_id;
}

describe("the hops of a request", () => {
  const proofs = [
    ["a bearer token", (ada: SignedIn) => ({ Authorization: `Bearer ${ada.token}` })],
    ["a cookie", (ada: SignedIn) => ({ Cookie: ada.cookies, Origin: "http://localhost:3000" })],
  ] as const;
  for (const [proof, headersOf] of proofs) {
    it.each(ENDPOINTS)(
      `with ${proof}, %s makes exactly one object call and no query, KV read or fetch`,
      async (_, method, path, bodyOf) => {
        const fetched = vi.spyOn(globalThis, "fetch");
        const ada = await signInWithCredits();
        const job_id = await startJob(ada);
        const { environment, hops } = countedEnvironment();
        const headers = { ...headersOf(ada), "Content-Type": "application/json" };
        // The registry of apps is read once for each isolate and minute.
        await send("GET", "/api/wallet?app=demo", { headers }, environment);
        Object.assign(hops, { account: 0, d1: 0, kv: 0 });
        const body = bodyOf === null ? null : JSON.stringify(bodyOf(job_id));
        const address = path.replace(":id", job_id);
        const response = await send(method, address, { headers, body }, environment);
        expect(response.status).toBe(200);
        expect(hops).toEqual(ONE_OBJECT_CALL);
        expect(fetched).not.toHaveBeenCalled();
      },
    );
  }

  it.each(ENDPOINTS)(
    "with a token of a trusted issuer, %s makes exactly one object call and no query, KV read or fetch",
    async (_, method, path, bodyOf) => {
      const acme = await openIssuer("https://acme.test");
      const { environment, hops } = countedEnvironment();
      const settings = { ...environment, ...trust([{ double: acme }]) };
      const headers = {
        Authorization: `Bearer ${await acme.token()}`,
        "Content-Type": "application/json",
      };
      // The keys, the person and the registry of apps are read at the first use in an isolate.
      await send("GET", "/api/wallet?app=demo", { headers }, settings);
      const job = JSON.stringify({ app: "demo", action: "draw", cost_estimate: 1 });
      const { job_id } = (await send("POST", "/api/jobs", { headers, body: job }, settings)).body;
      vi.mocked(globalThis.fetch).mockClear();
      Object.assign(hops, { account: 0, d1: 0, kv: 0 });
      const body = bodyOf === null ? null : JSON.stringify(bodyOf(job_id));
      const address = path.replace(":id", job_id);
      const response = await send(method, address, { headers, body }, settings);
      expect(response.status).toBe(200);
      expect(hops).toEqual(ONE_OBJECT_CALL);
      expect(globalThis.fetch).not.toHaveBeenCalled();
    },
  );

  it("the hop counter counts calls of each store", async () => {
    const ada = await signIn();
    const { environment, hops } = countedEnvironment();
    const headers = { Authorization: `Bearer ${ada.token}` };
    await send("GET", "/api/wallet?app=demo", { headers }, environment);
    expect(hops).toEqual({ account: 1, d1: 1, kv: 0 });
  });

  it("a cookie that cannot be ours causes no query to a store", async () => {
    const { environment, hops } = countedEnvironment();
    for (const value of ["x", "a".repeat(44), "a".repeat(42), ""]) {
      const headers = { Cookie: `passbook_session=${value}; passbook_token=${value}` };
      expect((await send("GET", "/api/wallet", { headers }, environment)).status).toBe(401);
    }
    expect(hops).toEqual({ account: 0, d1: 0, kv: 0 });
  });

  it("a request that renews an expired JWT cookie reads D1 once, and the next request does not", async () => {
    const ada = await signInWithCredits();
    const session_only = ada.cookies.split("; ").filter((it) => it.startsWith("passbook_session="));
    const { environment, hops } = countedEnvironment();
    const renewed = await send(
      "GET",
      "/api/wallet",
      { headers: { Cookie: session_only.join() } },
      environment,
    );
    expect(renewed.status).toBe(200);
    expect(hops).toEqual({ account: 1, d1: 1, kv: 0 });
    const cookies = renewed.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    await send("GET", "/api/wallet", { headers: { Cookie: cookies.join("; ") } }, environment);
    expect(hops).toEqual(ONE_OBJECT_CALL);
  });
});

describe("rows written", () => {
  const restores: (() => void)[] = [];
  afterEach(() => restores.splice(0).forEach((restore) => restore()));

  /** Counts the rows that deliveries write to D1. A batch has the queries of totals first, then of accounts and jobs. */
  function countD1Rows(): () => { totals: number; account: number; jobs: number } {
    const rows = { totals: 0, account: 0, jobs: 0 };
    const prototype = Object.getPrototypeOf(env.DB);
    const batch = prototype.batch;
    prototype.batch = async function (this: D1Database, statements: D1PreparedStatement[]) {
      const results: D1Result[] = await Reflect.apply(batch, this, [statements]);
      results.forEach(({ meta }, index) => {
        rows[index < 3 ? "totals" : index === 3 ? "account" : "jobs"] += meta.rows_written;
      });
      return results;
    };
    restores.push(() => (prototype.batch = batch));
    return () => rows;
  }

  it.each([
    ["completed", "/api/jobs/complete", { actual_cost: 7 }],
    ["failed", "/api/jobs/fail", {}],
  ])(
    "a %s job writes 4 rows in the object and 2 in D1, and each delivery also writes the account's row and the day's totals",
    async (_, path, rest) => {
      const ada = await signInWithCredits();
      await fireAlarm(ada.identity_id);
      const object_rows = await countRowsWritten(ada.identity_id);
      const d1_rows = countD1Rows();
      const job_id = await startJob(ada);
      // The entries of a job that takes longer than a second reach D1 in two deliveries.
      await fireAlarm(ada.identity_id);
      await ada.post(path, { job_id, ...rest });
      await fireAlarm(ada.identity_id);
      expect(object_rows()).toBe(4);
      expect(d1_rows()).toEqual({ totals: 2, account: 2, jobs: 2 });
    },
  );

  it("each step of a job writes 2 rows in the object and 1 in D1, and a repeated step none", async () => {
    const ada = await signInWithCredits();
    const job_id = await startJob(ada);
    await fireAlarm(ada.identity_id);
    const object_rows = await countRowsWritten(ada.identity_id);
    const d1_rows = countD1Rows();
    for (const step of [1, 2, 2, 3]) {
      await ada.post("/api/jobs/progress", {
        job_id,
        step,
        reserve: 5 - step,
        ttl_seconds: 90_000,
      });
    }
    expect(object_rows()).toBe(6);
    await fireAlarm(ada.identity_id);
    expect(object_rows()).toBe(6);
    expect(d1_rows()).toEqual({ totals: 1, account: 1, jobs: 1 });
  });

  it("a job whose requests have idempotency keys writes 5 rows in the object", async () => {
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    const object_rows = await countRowsWritten(ada.identity_id);
    for (const [key, path] of [
      ["first", "/api/jobs/complete"],
      ["second", "/api/jobs/fail"],
    ] as const) {
      const headers = { "Idempotency-Key": key };
      const body = { app: "demo", action: "draw", cost_estimate: 1 };
      const { job_id } = (await ada.post("/api/jobs", body, headers)).body;
      await ada.post(path, { job_id, actual_cost: 1 }, headers);
      const again = await ada.post(path, { job_id, actual_cost: 1 }, headers);
      expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    }
    expect(object_rows()).toBe(10);
  });

  it("one delivery of many jobs writes a row per job, and the account's row and the day's totals once", async () => {
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    const object_rows = await countRowsWritten(ada.identity_id);
    const d1_rows = countD1Rows();
    for (let index = 0; index < 20; index += 1) await startJob(ada);
    await fireAlarm(ada.identity_id);
    expect(object_rows()).toBe(40);
    expect(d1_rows()).toEqual({ totals: 1, account: 1, jobs: 20 });
    // A delivery writes no row in the object, and a repeated alarm delivers nothing again.
    await evict(ada.identity_id);
    await repeatAlarm(ada.identity_id);
    expect(d1_rows()).toEqual({ totals: 1, account: 1, jobs: 20 });
    expect(object_rows()).toBe(40);
  });

  it("jobs in batches of 100 write 4 rows each, plus one row per batch for its key", async () => {
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    const object_rows = await countRowsWritten(ada.identity_id);
    const jobs = Array.from({ length: 100 }, () => ({
      app: "demo",
      action: "draw",
      cost_estimate: 1,
    }));
    const key = { "Idempotency-Key": "hundred" };
    const created = await ada.post("/api/jobs/batch", { jobs }, key);
    expect(object_rows()).toBe(201);
    const endings = created.body.results.map(({ job_id }: { job_id: string }) => ({
      job_id,
      actual_cost: 1,
    }));
    await ada.post("/api/jobs/complete/batch", { jobs: endings }, key);
    expect(object_rows()).toBe(402);
  });

  it("an object that wakes without work writes no rows", async () => {
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    await evict(ada.identity_id);
    const object_rows = await countRowsWritten(ada.identity_id);
    await ada.get("/api/wallet");
    expect(await fireAlarm(ada.identity_id)).toBe(false);
    expect(object_rows()).toBe(0);
  });

  it("requests that change nothing write no rows", async () => {
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    const object_rows = await countRowsWritten(ada.identity_id);
    await ada.get("/api/wallet?app=demo");
    await ada.get("/api/jobs");
    await ada.get("/api/ledger");
    await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 101 });
    expect(object_rows()).toBe(0);
  });
});
