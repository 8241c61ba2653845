/** Shares of started jobs and of storage: one token or app cannot use up the account's limits. */
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { DEFAULT_POLICY } from "../../../../src/domain/app_policy.ts";
import { DAY_MS } from "../../../../src/domain/calendar.ts";
import { OPEN_JOBS_SHARE, TOKEN_STORAGE_MAX_BYTES } from "../../../../src/domain/limits.ts";
import { JOB_ROWS_BYTES } from "../../../../src/account/jobs/create.ts";
import { JOB_STEP_BYTES } from "../../../../src/account/jobs/progress.ts";
import { change, dump, evict, query } from "../../support/account_object.ts";
import { getToken, tokenId, type TokenHolder } from "../../support/device_logins.ts";
import { histories, IS_SLOW_CHECK } from "../../support/histories.ts";
import { signInWithCredits, type SignedIn } from "../../support/passbook.ts";
import { expectInvariants } from "../invariants.ts";
import { withToken } from "../../support/allowances.ts";

const job = (app: string) => ({ app, action: "draw", cost_estimate: 0 });

const start = (holder: TokenHolder | SignedIn, app = "demo", more: object = {}) =>
  holder.post("/api/jobs", { ...job(app), ...more });

async function startMany(holder: TokenHolder | SignedIn, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 100) {
    const jobs = Array.from({ length: Math.min(left, 100) }, () => job("demo"));
    const { body } = await holder.post("/api/jobs/batch", { jobs });
    expect(body.results.filter(({ code }: { code?: string }) => code !== undefined)).toEqual([]);
  }
}

describe("a token with all the started jobs that it may have", () => {
  it("a token with all its started jobs may start no more until one ends, even after an eviction, and others may", async () => {
    const ada = await signInWithCredits();
    const greedy = await getToken(ada, { caps: [{ credits: 1 }] });
    const other = await getToken(ada);
    await startMany(greedy, OPEN_JOBS_SHARE.token - 1);
    const { job_id } = (await start(greedy)).body;
    for (let times = 0; times < 2; times += 1) {
      const refused = await start(greedy, "another");
      expect(refused).toMatchObject({
        status: 400,
        body: { code: "limit_reached", of: "started_jobs_of_token" },
      });
      expect(refused.body.error).toContain("A token has at most 1000 started jobs");
      expect((await start(ada)).status).toBe(200);
      expect((await start(other)).status).toBe(200);
      await evict(ada.identity_id);
    }
    await ada.post("/api/jobs/fail", { job_id });
    expect((await start(greedy)).status).toBe(200);
    expect((await start(greedy)).status).toBe(400);
  });
});

describe("an app with all the started jobs that it may have", () => {
  it("an app with all its started jobs may start no more, and other apps may", async () => {
    const usual = { ...OPEN_JOBS_SHARE };
    onTestFinished(() => void Object.assign(OPEN_JOBS_SHARE, usual));
    Object.assign(OPEN_JOBS_SHARE, { token: 3, app: 5 });
    const ada = await signInWithCredits();
    await startMany(ada, 5);
    const refused = await start(ada);
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "limit_reached", of: "started_jobs_of_app" },
    });
    expect(refused.body.error).toContain("An app has in one account at most 5 started jobs");
    expect((await start(ada, "another")).status).toBe(200);
  });
});

const SESSION = { kind: "holder" } as const;
const TOKENS = ["a", "b"];
const by = fc.constantFrom("session", ...TOKENS);
const app_slug = fc.constantFrom("x", "y");
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      by,
      app_slug,
      ttl_seconds: fc.constantFrom(60, 86_400),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("fail" as const), pick: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("complete" as const), pick: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("wait", "evict", "break") }) },
);

interface Started {
  readonly id: string;
  readonly by: string;
  readonly app_slug: string;
  readonly expires_at_ms: number;
  state: "started" | "expired" | "over";
}

describe("any history of jobs", () => {
  it(
    "in any history, each token and app stays within its share of started jobs, and no other job is refused",
    { tags: ["history"], timeout: 180_000 },
    async () => {
      vi.spyOn(console, "error").mockReturnValue();
      const usual = { ...OPEN_JOBS_SHARE };
      onTestFinished(() => void Object.assign(OPEN_JOBS_SHARE, usual));
      Object.assign(OPEN_JOBS_SHARE, { token: 3, app: 5 });
      const refusals = { token: 0, app: 0 };
      let accounts = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 20, maxLength: 60, size: "max" }),
          async (steps) => {
            vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
            const identity_id = `shares ${(accounts += 1)}`;
            const account = env.ACCOUNT.getByName(identity_id);
            for (const id of TOKENS) await issue(account, id);
            const all: Started[] = [];
            const create = (one: Pick<Started, "by" | "app_slug">, ttl_seconds: number) => {
              const rest = { action: "draw", cost_estimate: 0, metadata_json: null };
              const request = {
                app_slug: one.app_slug,
                policy: { ...DEFAULT_POLICY },
                ttl_seconds,
              };
              const caller = one.by === "session" ? SESSION : withToken(one.by);
              return account.createJob(caller, { ...request, ...rest }, null);
            };
            for (const one of steps) {
              for (const it of all) {
                if (it.state === "started" && it.expires_at_ms <= Date.now()) it.state = "expired";
              }
              const started = all.filter(({ state }) => state === "started");
              if (one.do === "create") {
                const of_token = started.filter((it) => it.by === one.by).length;
                const of_app = started.filter((it) => it.app_slug === one.app_slug).length;
                const is_token_full = one.by !== "session" && of_token >= 3;
                const answer = await create(one, one.ttl_seconds);
                expect(answer.ok).toBe(!is_token_full && of_app < 5);
                if (answer.ok) {
                  const expires_at_ms = Date.now() + one.ttl_seconds * 1000;
                  const id = answer.value.value.job_id;
                  all.push({
                    id,
                    by: one.by,
                    app_slug: one.app_slug,
                    expires_at_ms,
                    state: "started",
                  });
                } else {
                  refusals[is_token_full ? "token" : "app"] += 1;
                }
              } else if (one.do === "fail" || one.do === "complete") {
                const it = all.at(-1 - one.pick);
                if (it === undefined) continue;
                const ending = { job_id: it.id, metadata_json: null };
                const answer =
                  one.do === "fail"
                    ? await account.failJob(
                        SESSION,
                        { ...ending, refund: true, reason: null },
                        null,
                      )
                    : await account.completeJob(SESSION, { ...ending, actual_cost: 0 }, null);
                const may =
                  it.state === "started" || (it.state === "expired" && one.do === "complete");
                expect(answer.ok).toBe(may);
                if (may) it.state = "over";
              } else if (one.do === "wait") {
                vi.setSystemTime(Date.now() + 61_000);
              } else if (one.do === "evict") {
                await evict(identity_id);
              } else {
                const fails = "before insert on jobs begin select raise(abort, 'no'); end";
                await query(identity_id, `create trigger broken ${fails}`);
                // The job is counted before its insert fails. The rollback must undo the count.
                await create({ by: "a", app_slug: "x" }, 60).catch(() => undefined);
                await query(identity_id, "drop trigger broken");
              }
            }
            await expectInvariants(identity_id);
            vi.useRealTimers();
          },
        ),
        { numRuns: histories(25) },
      );
      // A few histories may not reach both limits.
      if (!IS_SLOW_CHECK) return;
      expect(refusals.token).toBeGreaterThan(0);
      expect(refusals.app).toBeGreaterThan(0);
    },
  );
});

async function issue(account: ReturnType<typeof env.ACCOUNT.getByName>, id: string): Promise<void> {
  const rest = { upstream: false, admin: false, app_slugs: null, caps: [] };
  await account.issueAllowance(SESSION, {
    id,
    label: id,
    app_slug: null,
    limits: { access: "write", ...rest },
    session_id: "session",
    signin_method: null,
    ends_with_session: false,
    expires_at_ms: Date.now() + 90 * DAY_MS,
  });
}

describe("what a token's jobs store", () => {
  const storedBy = async ({ identity_id }: SignedIn): Promise<number | undefined> =>
    (await query<{ stored_bytes: number }>(identity_id, "select stored_bytes from allowances"))[0]
      ?.stored_bytes;

  it("a token's storage counts metadata that grows, even if another caller settles the job", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada);
    const { job_id } = (await start(token, "demo", { metadata: { a: "ä" } })).body;
    expect(await storedBy(ada)).toBe(JOB_ROWS_BYTES + '{"a":"_"}'.length + 1);
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 0, metadata: { b: 1 } });
    expect(await storedBy(ada)).toBe(JOB_ROWS_BYTES + '{"a":"_","b":1}'.length + 1);
    await start(ada, "demo", { metadata: { a: "b" } });
    expect(await storedBy(ada)).toBe(JOB_ROWS_BYTES + '{"a":"_","b":1}'.length + 1);
  });

  it("a token's storage counts the steps of its jobs, and one that has stored its share takes no step", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada);
    const { job_id } = (await start(token)).body;
    const takeStep = (step: number) => token.post("/api/jobs/progress", { job_id, step });
    await takeStep(1);
    expect(await storedBy(ada)).toBe(JOB_ROWS_BYTES + JOB_STEP_BYTES);
    const left = TOKEN_STORAGE_MAX_BYTES - JOB_STEP_BYTES;
    await change(ada.identity_id, `update allowances set stored_bytes = ${left}`);
    expect((await takeStep(2)).status).toBe(200);
    const before = await dump(ada.identity_id);
    expect(await takeStep(3)).toMatchObject({ status: 507, body: { code: "token_storage_full" } });
    expect(await dump(ada.identity_id)).toBe(before);
    expect((await token.post("/api/jobs/complete", { job_id, actual_cost: 0 })).status).toBe(200);
  });

  it("a token that has stored a tenth of the account may start no job, but its jobs end and others go on", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada);
    const { job_id } = (await start(token)).body;
    const id = await tokenId(token);
    const left = TOKEN_STORAGE_MAX_BYTES - JOB_ROWS_BYTES;
    await change(
      ada.identity_id,
      `update allowances set stored_bytes = ${left} where id = '${id}'`,
    );
    const before = await dump(ada.identity_id);
    const refused = await start(token, "demo", { metadata: {} });
    expect(refused).toMatchObject({ status: 507, body: { code: "token_storage_full" } });
    expect(await dump(ada.identity_id)).toBe(before);
    expect((await start(token)).status).toBe(200);
    expect((await start(token)).status).toBe(507);
    const end = { job_id, actual_cost: 0, metadata: { description: "done" } };
    expect((await token.post("/api/jobs/complete", end)).status).toBe(200);
    expect((await start(ada)).status).toBe(200);
    expect((await start(await getToken(ada))).status).toBe(200);
  });
});
