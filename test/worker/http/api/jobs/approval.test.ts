/** The holder's approval of one job beyond a cap: `docs/personal-tokens.md`, "One job beyond the limit". */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { HOLDER } from "../../../../../src/account/contract.ts";
import { APPROVAL_KEEP_MS, APPROVAL_TTL_MS } from "../../../../../src/domain/job_approval.ts";
import { OPEN_APPROVALS_MAX } from "../../../../../src/domain/limits.ts";
import { dump, evict, query } from "../../../support/account_object.ts";
import { getToken, postForm, tokenId, type TokenHolder } from "../../../support/device_logins.ts";
import {
  BASE_URL,
  signInWithCredits,
  type Answer,
  type SignedIn,
} from "../../../support/passbook.ts";

const CAP = { credits: 20, period: "month" } as const;
const JOB = { app: "demo", action: "render a film", cost_estimate: 30 };

let ada: SignedIn;
let agent: TokenHolder;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2027-02-10T12:00:00Z") });
  ada = await signInWithCredits("demo");
  agent = await getToken(ada, { caps: [CAP] });
});

const create = (more: object = {}, by: Pick<TokenHolder, "post"> = agent): Promise<Answer> =>
  by.post("/api/jobs", { ...JOB, ...more });

/** The request for an approval in the 402 of {@link JOB}. */
async function ask(more: object = {}): Promise<{ approval: string; path: string }> {
  const refused = await create(more);
  expect(refused).toMatchObject({ status: 402, body: { code: "token_budget_exceeded" } });
  const { approval, approval_url } = refused.body;
  return { approval, path: new URL(approval_url).pathname };
}

const decide = (path: string, decision: "approve" | "deny", by = ada): Promise<Answer> =>
  postForm(by, `${path}/${decision}`, {});

const wallet = async () => (await agent.get("/api/wallet")).body;

describe("a job beyond a cap", () => {
  it("the 402 says what the cap is, what is spent and what is left, and these add up", async () => {
    await create({ cost_estimate: 12 });
    const { body } = await create();
    expect(body).toMatchObject({
      cap: CAP,
      spent: 12,
      room: 8,
      required: 30,
      resets_at: "2027-03-01T00:00:00.000Z",
    });
    expect(body.spent + body.room).toBe(body.cap.credits);
    expect(body.approval_url).toBe(`${BASE_URL}/approve/${body.approval}`);
    expect(await wallet()).toMatchObject({ account: { credits: 88 }, room: 8, spendable: 8 });
    await ada.post("/api/jobs", { ...JOB, cost_estimate: 85 });
    expect(await wallet()).toMatchObject({ account: { credits: 3 }, room: 8, spendable: 3 });
    expect(Object.keys((await ada.get("/api/wallet")).body)).not.toContain("room");
  });

  it("an approved job is created once, counts as spent, and leaves the cap in force", async () => {
    const { approval, path } = await ask();
    const stored = await query(ada.identity_id, "select id, state from approvals");
    expect(stored).toEqual([{ id: approval, state: "open" }]);
    expect((await create({ approval })).body).toMatchObject({
      code: "token_budget_exceeded",
      approval,
    });
    expect((await decide(path, "approve")).status).toBe(303);
    await evict(ada.identity_id);
    const created = await create({ approval });
    expect(created).toMatchObject({ status: 200, body: { credits: 70 } });
    expect(await create({ approval })).toMatchObject({
      status: 410,
      body: { code: "approval_ended" },
    });
    expect(await create({ cost_estimate: 1 })).toMatchObject({
      status: 402,
      body: { spent: 30, room: 0, required: 1 },
    });
    expect(await wallet()).toMatchObject({ account: { credits: 70 }, room: 0, spendable: 0 });
    const { job_id } = created.body;
    await agent.post("/api/jobs/complete", { job_id, actual_cost: 10 });
    expect(await wallet()).toMatchObject({ account: { credits: 90 }, room: 10 });
  });

  it.each([
    ["app", { app: "sketch" }],
    ["action", { action: "render a film " }],
    ["amount", { cost_estimate: 31 }],
  ])("an approval is refused for another %s, and nothing changes", async (_, other) => {
    const { approval, path } = await ask();
    await decide(path, "approve");
    const before = await dump(ada.identity_id);
    const refused = await create({ ...other, approval });
    expect(refused).toMatchObject({ status: 400, body: { code: "approval_invalid" } });
    expect(await dump(ada.identity_id)).toBe(before);
    expect((await create({ cost_estimate: 25, approval })).status).toBe(200);
  });

  it("an approval is refused for another token, another account, the holder, and if it is forged", async () => {
    const { approval, path } = await ask();
    await decide(path, "approve");
    const other = await getToken(ada, { caps: [CAP] });
    const bob = await signInWithCredits("demo", "bob@example.com");
    const of_bob = await getToken(bob, { caps: [CAP] });
    const forged = crypto.randomUUID();
    for (const [by, sent] of [
      [other, approval],
      [of_bob, approval],
      [ada, approval],
      [agent, forged],
      [agent, "nonsense"],
    ] as const) {
      const refused = await create({ approval: sent }, by);
      expect(refused).toMatchObject({ status: 400, body: { code: "approval_invalid" } });
    }
    expect((await create({ approval })).status).toBe(200);
  });

  it("an approval that the holder gave works within the 15 minutes, and not after them", async () => {
    const first = await ask();
    await decide(first.path, "approve");
    const second = await ask();
    await decide(second.path, "approve");
    vi.setSystemTime(Date.now() + 15 * 60_000 - 1_000);
    expect((await create({ approval: first.approval, cost_estimate: 21 })).status).toBe(200);
    vi.setSystemTime(Date.now() + 1_000);
    const late = await create({ approval: second.approval });
    expect(late).toMatchObject({ status: 410, body: { code: "approval_ended" } });
  });

  it("a decision is refused after its time and while the account is suspended, and old requests are forgotten after a day", async () => {
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const decideById = (id: string) => account.decideApproval(HOLDER, id, true);
    const first = await ask();
    await account.suspend();
    expect(await decideById(first.approval)).toMatchObject({ refusal: { code: "suspended" } });
    await account.restore();
    vi.setSystemTime(Date.now() + APPROVAL_TTL_MS);
    expect(await decideById(first.approval)).toMatchObject({ refusal: { code: "approval_ended" } });
    const second = await ask();
    expect(second.approval).not.toBe(first.approval);
    expect(await decideById(second.approval)).toEqual({ ok: true, value: "approved" });
    const ids = () => query(ada.identity_id, "select id from approvals order by expires_at_ms");
    expect(await ids()).toEqual([{ id: first.approval }, { id: second.approval }]);
    vi.setSystemTime(Date.now() + APPROVAL_TTL_MS + APPROVAL_KEEP_MS);
    const third = await ask();
    expect(await ids()).toEqual([{ id: third.approval }]);
  });

  it("20 equal requests at once get one approval, whose address has at most 200 characters", async () => {
    const refused = await Promise.all(Array.from({ length: 20 }, () => create()));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([402]));
    const addresses = new Set(refused.map(({ body }) => body.approval_url as string));
    expect(addresses.size).toBe(1);
    expect([...addresses][0]?.length).toBeLessThanOrEqual(200);
    expect(await query(ada.identity_id, "select id from approvals")).toHaveLength(1);
  });

  it.each([
    ["app", { app: "sketch" }],
    ["action", { action: "render another film" }],
    ["amount", { cost_estimate: 31 }],
  ])("a request with another %s has an approval of its own", async (_, other) => {
    const { approval } = await ask();
    expect((await ask(other)).approval).not.toBe(approval);
    expect((await ask()).approval).toBe(approval);
  });

  it("equal requests of two tokens, and of a token whose cap changed, do not share an approval", async () => {
    const { approval } = await ask();
    const other = await getToken(ada, { caps: [CAP] });
    const of_other = await create({}, other);
    expect(of_other.status).toBe(402);
    expect(of_other.body.approval).not.toBe(approval);
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const caps = [{ credits: 10, period: "month" as const }];
    await account.changeAllowance(HOLDER, { id: await tokenId(agent), may_widen: false, caps });
    expect((await ask()).approval).not.toBe(approval);
  });

  it("of 21 open requests of one token the oldest goes, and another token's stay", async () => {
    const other = await getToken(ada, { caps: [CAP] });
    const first = await create({}, other);
    const { approval: of_other } = first.body;
    const asked: string[] = [];
    for (let at = 0; at <= OPEN_APPROVALS_MAX; at += 1) {
      vi.setSystemTime(Date.now() + 1);
      asked.push((await ask({ cost_estimate: 30 + at })).approval);
    }
    const rows = await query<{ id: string }>(ada.identity_id, "select id from approvals");
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([of_other, ...asked.slice(1)]));
    expect(await create({ approval: asked[0] })).toMatchObject({
      status: 400,
      body: { code: "approval_invalid" },
    });
    expect(await create({ approval: asked[1], cost_estimate: 31 })).toMatchObject({ status: 402 });
  });

  it("of an approval and a denial at once, one decides, and the job follows it", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { approval, path } = await ask({ cost_estimate: 21 + round });
      await Promise.all([decide(path, "approve"), decide(path, "deny"), decide(path, "approve")]);
      const [row] = await query<{ state: string }>(
        ada.identity_id,
        `select state from approvals where id = '${approval}'`,
      );
      const created = await create({ approval, cost_estimate: 21 + round });
      expect([row?.state, created.status]).toEqual(
        row?.state === "approved" ? ["approved", 200] : ["denied", 403],
      );
      if (created.status === 200) {
        await agent.post("/api/jobs/fail", { job_id: created.body.job_id });
      }
    }
  });

  it("a denied job is 403 with its own code, also if the cap has room again", async () => {
    const { approval, path } = await ask();
    await decide(path, "deny");
    await decide(path, "approve");
    expect(await create({ approval })).toMatchObject({
      status: 403,
      body: { code: "approval_denied" },
    });
    vi.setSystemTime(Date.parse("2027-02-10T12:10:00Z"));
    const cheap = await create({ approval, cost_estimate: 1 });
    expect(cheap).toMatchObject({ status: 403, body: { code: "approval_denied" } });
  });

  it("the balance must cover an approved job, and a refused job does not use the approval up", async () => {
    const { approval, path } = await ask();
    await decide(path, "approve");
    const other = (await ada.post("/api/jobs", { ...JOB, cost_estimate: 80 })).body.job_id;
    const refused = await create({ approval });
    expect(refused).toMatchObject({
      status: 402,
      body: { code: "insufficient_credits", credits: 20, held: 80, required: 30 },
    });
    await ada.post("/api/jobs/fail", { job_id: other });
    expect((await create({ approval })).status).toBe(200);
  });

  it("a request and its repetition with an approval are one job under their idempotency key", async () => {
    const key = { "Idempotency-Key": "film" };
    const refused = await agent.post("/api/jobs", JOB, key);
    const { approval, approval_url } = refused.body;
    await decide(new URL(approval_url).pathname, "approve");
    const created = await agent.post("/api/jobs", { ...JOB, approval }, key);
    expect(created.status).toBe(200);
    vi.setSystemTime(Date.now() + APPROVAL_TTL_MS);
    for (const body of [{ ...JOB, approval }, JOB]) {
      const again = await agent.post("/api/jobs", body, key);
      expect(again.text).toBe(created.text);
      expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    }
  });

  it("an approval covers its job up to its amount, also if the job expired and is completed late", async () => {
    for (const [actual_cost, status] of [
      [30, 200],
      [31, 402],
    ] as const) {
      const { approval, path } = await ask();
      await decide(path, "approve");
      const { job_id } = (await create({ approval, ttl_seconds: 60 })).body;
      vi.setSystemTime(Date.now() + 61_000);
      const expired = await agent.get(`/api/jobs/${job_id}`);
      expect(expired.body).toMatchObject({ status: "failed", failure: "expired" });
      const late = await agent.post("/api/jobs/complete", { job_id, actual_cost });
      expect(late.status).toBe(status);
      expect(await wallet()).toMatchObject({ account: { credits: 70 }, room: 0 });
    }
  });

  it("an approval covers a cost and a raised reserve above the first reserve, up to its amount", async () => {
    const { approval, path } = await ask();
    await decide(path, "approve");
    const { job_id } = (await create({ approval, cost_estimate: 25 })).body;
    const raise = (step: number, reserve: number) =>
      agent.post("/api/jobs/progress", { job_id, step, reserve });
    expect((await raise(1, 31)).body).toMatchObject({ code: "token_budget_exceeded", required: 1 });
    expect((await raise(1, 28)).status).toBe(200);
    const complete = (actual_cost: number) =>
      agent.post("/api/jobs/complete", { job_id, actual_cost });
    expect((await complete(31)).status).toBe(402);
    expect((await complete(30)).body).toMatchObject({ credits: 70 });
  });

  it("a request that the holder has not approved covers nothing, even if its job fits the cap", async () => {
    const { approval, path } = await ask();
    const { job_id } = (await create({ approval, cost_estimate: 20 })).body;
    await decide(path, "approve");
    const over = await agent.post("/api/jobs/complete", { job_id, actual_cost: 30 });
    expect(over).toMatchObject({ status: 402, body: { code: "token_budget_exceeded" } });
    expect(await wallet()).toMatchObject({ account: { credits: 80 }, room: 0 });
  });

  it("a batch, an overage and a raised reserve beyond a cap cannot be approved", async () => {
    const batch = await agent.post("/api/jobs/batch", { jobs: [JOB] });
    const none = { code: "token_budget_exceeded", approval: null, approval_url: null };
    expect(batch.body.results).toMatchObject([none]);
    const { job_id } = (await create({ cost_estimate: 5 })).body;
    const over = await agent.post("/api/jobs/complete", { job_id, actual_cost: 50 });
    expect(over).toMatchObject({ status: 402, body: none });
    const raised = await agent.post("/api/jobs/progress", { job_id, step: 1, reserve: 50 });
    expect(raised).toMatchObject({ status: 402, body: none });
  });

  it("an approval of an ended token can neither be given nor used", async () => {
    const { approval, path } = await ask();
    await decide(path, "approve");
    const second = await ask();
    await agent.revoke(await tokenId(agent));
    expect((await create({ approval })).status).toBe(401);
    expect((await decide(second.path, "approve")).status).toBe(410);
  });
});
