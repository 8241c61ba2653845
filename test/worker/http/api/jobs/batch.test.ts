/** A batch has the same results as its items one by one, in one transaction. */
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { JOBS_PER_BATCH_MAX } from "../../../../../src/domain/limits.ts";
import { BATCH_ITEMS_PER_WRITE } from "../../../../../src/http/middleware/rate_limits.ts";
import { expectInvariants } from "../../../account/invariants.ts";
import { dump, evict, query, readContents } from "../../../support/account_object.ts";
import { histories } from "../../../support/histories.ts";
import { getToken } from "../../../support/device_logins.ts";
import { send, signIn, signInWithCredits, type SignedIn } from "../../../support/passbook.ts";

const KEY = { "Idempotency-Key": "batch-1" };
const job = (cost_estimate: number, app = "demo") => ({ app, action: "draw", cost_estimate });
type Person = Pick<SignedIn, "post">;

const create = (person: Person, jobs: unknown, headers = {}) =>
  person.post("/api/jobs/batch", { jobs }, headers);
const complete = (person: Person, jobs: unknown, headers = {}) =>
  person.post("/api/jobs/complete/batch", { jobs }, headers);

async function createIds(person: Person, count: number): Promise<string[]> {
  const { body } = await create(
    person,
    Array.from({ length: count }, () => job(1)),
  );
  return body.results.map((item: { job_id: string }) => item.job_id);
}

const item = fc.oneof(
  { weight: 5, arbitrary: fc.nat({ max: 40 }).map((cost) => job(cost)) },
  fc.constantFrom<unknown>(job(-1), job(1, "No Slug"), { app: "demo" }, null, 7, []),
  fc.nat({ max: 5 }).map((cost) => ({ ...job(cost), metadata: { a: cost, ["__proto__"]: 1 } })),
  fc.constant({ ...job(1), metadata: { long: "x".repeat(17_000) } }),
);
const settlement = fc.record({
  /** The index of a created job. An index past the last one stands for an unknown job. */
  of: fc.nat({ max: 12 }),
  actual_cost: fc.integer({ min: -1, max: 60 }),
  metadata: fc.option(fc.constant({ previewUrl: "https://draw.example/1.png" }), {
    nil: undefined,
  }),
});

/** A response without the values that differ between two accounts: ids and times. */
function withoutIds(value: unknown): unknown {
  const text = JSON.stringify(value, (name, member: unknown) =>
    /^(id|job_id|.*_at)$/.test(name) ? "…" : member,
  );
  return JSON.parse(text);
}

async function ledgerOf({ identity_id }: SignedIn): Promise<unknown> {
  const { entries, jobs } = await readContents(identity_id);
  return [
    entries.map(({ kind, amount, balance_after, reserved_after, open_jobs, app_slug }) => [
      kind,
      amount,
      balance_after,
      reserved_after,
      open_jobs,
      app_slug,
    ]),
    jobs.map(({ status, reserved, actual_cost, line, metadata_json }) => [
      status,
      reserved,
      actual_cost,
      line,
      metadata_json,
    ]),
  ];
}

describe("a batch", () => {
  it(
    "a batch has the same responses, ledger and invariants as its items sent one by one",
    { tags: ["history"] },
    async () => {
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(
          // A batch is one body, of at most 64 KiB.
          fc
            .array(item, { minLength: 1, maxLength: 12 })
            .filter((jobs) => JSON.stringify({ jobs }).length < 60_000),
          fc.array(settlement, { minLength: 1, maxLength: 12 }),
          async (jobs, settlements) => {
            runs += 1;
            const together = await signInWithCredits("demo", `together-${runs}@example.com`);
            const alone = await signInWithCredits("demo", `alone-${runs}@example.com`);
            const one_by_one = async (path: string, bodies: readonly unknown[]) => {
              const responses: { status: number; body: Record<string, unknown> }[] = [];
              for (const body of bodies) responses.push(await alone.post(path, body));
              return responses.map(({ body }) => body);
            };
            const created = (await create(together, jobs)).body;
            const singly = await one_by_one("/api/jobs", jobs);
            expect(withoutIds(created.results)).toEqual(withoutIds(singly));
            expect(created.credits).toBe((await alone.get("/api/wallet")).body.account.credits);
            const idsOf = (responses: readonly { job_id?: string }[]) =>
              responses.flatMap(({ job_id }) => job_id ?? []);
            const endings = (ids: readonly string[]) =>
              settlements.map(({ of, ...rest }) => ({
                job_id: ids[of] ?? "019a0b1c-7d2e-7f30-8a41-5b6c7d8e9f00",
                ...rest,
              }));
            const settled = (await complete(together, endings(idsOf(created.results)))).body;
            const settled_singly = await one_by_one("/api/jobs/complete", endings(idsOf(singly)));
            expect(withoutIds(settled.results)).toEqual(withoutIds(settled_singly));
            expect(settled.credits).toBe((await alone.get("/api/wallet")).body.account.credits);
            expect(await ledgerOf(together)).toEqual(await ledgerOf(alone));
            await expectInvariants(together.identity_id);
          },
        ),
        { numRuns: histories(20) },
      );
    },
  );

  it("a batch of only invalid items returns a result for each", async () => {
    const ada = await signInWithCredits();
    const [job_id = ""] = await createIds(ada, 1);
    const response = await complete(ada, [{ job_id, actual_cost: -1 }, "x"]);
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      results: [{ code: "invalid_request" }, { code: "invalid_request" }],
      credits: 99,
    });
  });

  it("a batch has 1 to 100 items", async () => {
    const ada = await signInWithCredits();
    for (const jobs of [[], Array.from({ length: JOBS_PER_BATCH_MAX + 1 }, () => job(0)), "x"]) {
      for (const send of [create, complete]) {
        expect(await send(ada, jobs)).toMatchObject({
          status: 400,
          body: { code: "invalid_request" },
        });
      }
    }
    const ids = await createIds(ada, JOBS_PER_BATCH_MAX);
    expect(new Set(ids).size).toBe(JOBS_PER_BATCH_MAX);
    const endings = ids.map((job_id) => ({ job_id, actual_cost: 0 }));
    const { body } = await complete(ada, endings);
    expect(body.results.every((it: object) => "job" in it)).toBe(true);
    expect(body.credits).toBe(100);
    await expectInvariants(ada.identity_id);
  });

  it("a batch is rolled back completely if one of its items throws", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await signInWithCredits();
    const ids = await createIds(ada, 3);
    const before = await dump(ada.identity_id);
    await query(
      ada.identity_id,
      `create trigger broken before insert on entries when new.line % 3 = 0
       begin select raise(abort, 'no'); end`,
    );
    expect((await create(ada, [job(1), job(1), job(1)], KEY)).status).toBe(500);
    const endings = ids.map((job_id) => ({ job_id, actual_cost: 1 }));
    expect((await complete(ada, endings, KEY)).status).toBe(500);
    expect(await dump(ada.identity_id)).toBe(before);
    await query(ada.identity_id, "drop trigger broken");
    expect((await create(ada, [job(1), job(1), job(1)], KEY)).body.credits).toBe(94);
    await expectInvariants(ada.identity_id);
  });
});

describe("a batch's Idempotency-Key", () => {
  it("a batch repeated with its key returns the same response, runs once, and gets 422 with another body", async () => {
    const ada = await signInWithCredits();
    const jobs = [job(60), job(60), { ...job(1), metadata: { a: 1 } }];
    const first = await create(ada, jobs, KEY);
    expect(first.body.results[1].code).toBe("insufficient_credits");
    await evict(ada.identity_id);
    const again = await create(ada, jobs, KEY);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect((await create(ada, [job(1)], KEY)).status).toBe(422);

    const endings = [
      { job_id: first.body.results[0].job_id, actual_cost: 50, metadata: { b: 2 } },
      { job_id: first.body.results[0].job_id, actual_cost: 50 },
      { job_id: first.body.results[2].job_id, actual_cost: 3, metadata: { b: "x".repeat(9_000) } },
    ];
    const settled = await complete(ada, endings, KEY);
    expect(settled.body.results[1].code).toBe("job_ended");
    await evict(ada.identity_id);
    const settled_again = await complete(ada, endings, KEY);
    expect(settled_again.text).toBe(settled.text);
    expect(settled_again.headers.get("Idempotency-Replayed")).toBe("true");
    // The stored response does not repeat the metadata.
    const stored = await query<{ response_json: string }>(
      ada.identity_id,
      "select * from idempotency_keys",
    );
    expect(stored).toHaveLength(2);
    expect(stored.every(({ response_json }) => response_json.length < 1_000)).toBe(true);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(47);
    await expectInvariants(ada.identity_id);
  });

  it("the key of a batch in which nothing took effect can be used again", async () => {
    const ada = await signIn();
    const refused = await create(ada, [job(1)], KEY);
    expect(refused.body.results[0].code).toBe("insufficient_credits");
    await ada.get("/api/wallet?app=demo");
    const done = await create(ada, [job(1)], KEY);
    expect(done.body.credits).toBe(99);
    expect(done.headers.get("Idempotency-Replayed")).toBeNull();
  });
});

describe("a limited token's batch", () => {
  it("a capped token's batch is checked against the cap item by item, for creation and completion", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 10, period: "total" }] });
    const { body } = await create(token, [job(6), job(6), job(4), job(1)]);
    expect(body.results.map(({ code }: { code?: string }) => code)).toEqual([
      undefined,
      "token_budget_exceeded",
      undefined,
      "token_budget_exceeded",
    ]);
    const [first, , third] = body.results;
    const settled = await complete(token, [
      { job_id: first.job_id, actual_cost: 7 },
      { job_id: third.job_id, actual_cost: 1 },
      { job_id: first.job_id, actual_cost: 6 },
    ]);
    expect(settled.body.results.map((it: { code?: string }) => it.code)).toEqual([
      "token_budget_exceeded",
      undefined,
      undefined,
    ]);
    await expectInvariants(ada.identity_id);
  });

  it("a limited token's batch is checked for apps item by item and for the scope as a whole", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { apps: ["demo"] });
    const { body } = await create(token, [job(1), job(1, "other"), job(1)]);
    expect(body.results.map((it: { code?: string }) => it.code)).toEqual([
      undefined,
      "scope",
      undefined,
    ]);
    const reader = await getToken(ada, { scopes: ["read"] });
    expect((await create(reader, [job(1)])).status).toBe(403);
  });
});

describe("writes are counted", () => {
  it("every ten items of a batch count as one write, and too many writes are refused", async () => {
    const ada = await signInWithCredits();
    let left = Number.POSITIVE_INFINITY;
    let counted = 0;
    const limit = async () => {
      counted += 1;
      return { success: (left -= 1) >= 0 };
    };
    const environment = { ...env, LIMIT_WRITES: { limit } };
    const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
    const ask = (jobs: object[]) =>
      send("POST", "/api/jobs/batch", { headers, body: JSON.stringify({ jobs }) }, environment);
    const items = (count: number) => Array.from({ length: count }, () => job(0));
    for (const [count, writes] of [
      [1, 1],
      [BATCH_ITEMS_PER_WRITE, 1],
      [BATCH_ITEMS_PER_WRITE + 1, 2],
      [JOBS_PER_BATCH_MAX, 10],
    ] as const) {
      counted = 0;
      expect((await ask(items(count))).status).toBe(200);
      expect(counted).toBe(writes);
    }
    left = 9;
    const before = await dump(ada.identity_id);
    expect((await ask(items(JOBS_PER_BATCH_MAX))).status).toBe(429);
    expect(await dump(ada.identity_id)).toBe(before);
  });
});
