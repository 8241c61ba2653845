import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import migrations from "../../drizzle/account/migrations.js";
import { FIRST_POLICY } from "../../src/domain/app_policy.ts";
import { evict, query } from "../support/account_object.ts";
import { expectInvariants } from "./invariants.ts";

const SESSION = { personal_token_id: null };
const older = () => env.ACCOUNT.getByName("older");

function entries(): { readonly tag: string }[] {
  return (migrations as { journal: { entries: { tag: string }[] } }).journal.entries;
}

/** Runs `work` on an object as it was before a migration; from then on the object has them all. */
async function asBefore(migration: string, work: () => Promise<void>): Promise<void> {
  const all = [...entries()];
  const before = all.slice(
    0,
    all.findIndex(({ tag }) => tag.endsWith(migration)),
  );
  expect(before.length).toBeGreaterThan(0);
  try {
    entries().splice(0, entries().length, ...before);
    await runInDurableObject(older(), () => undefined);
    await work();
    await evict("older");
  } finally {
    entries().splice(0, entries().length, ...all);
  }
  await evict("older");
}

it("personal tokens of before keep what they could do and made, and end with no session", async () => {
  await asBefore("personal_token_bounds", async () => {
    const row = (id: string, access: string, apps: string, cap: string) =>
      query(
        "older",
        `insert into tokens (id, label, access, app_slugs_json, cap_credits, spent, spent_window,
          created_at_ms, expires_at_ms) values ('${id}', 'x', '${access}', ${apps}, ${cap}, 0, 0, 0, 9e15)`,
      );
    await row("apps", "write", `'["demo"]'`, "null");
    await row("capped", "write", "null", "5");
    await row("full", "write", "null", "null");
    await row("reader", "read", "null", "null");
    await query(
      "older",
      `insert into jobs (id, status, action, reserved, actual_cost, created_at_ms, updated_at_ms,
        expires_at_ms, line, token_id) values ('job', 'completed', 'x', 1, 1, 0, 0, 0, 1, 'capped')`,
    );
  });
  expect(
    await query("older", "select id, upstream, session_id from personal_tokens order by id"),
  ).toEqual([
    { id: "apps", upstream: 0, session_id: null },
    { id: "capped", upstream: 0, session_id: null },
    { id: "full", upstream: 1, session_id: null },
    { id: "reader", upstream: 0, session_id: null },
  ]);
  expect(await query("older", "select personal_token_id from jobs")).toEqual([
    { personal_token_id: "capped" },
  ]);
});

it("capped tokens of before lines carried their spending go on from what their rows say", async () => {
  const now_ms = Date.now();
  await asBefore("_spending", async () => {
    await query(
      "older",
      `insert into account (singleton, id, identity_id, plan, created_at_ms)
        values (1, 'x', 'older', 'free', ${now_ms})`,
    );
    for (const [id, spent] of [
      ["busy", 30],
      ["resting", 20],
    ]) {
      await query(
        "older",
        `insert into personal_tokens (id, label, access, cap_credits, cap_period, spent, spent_window,
          created_at_ms, expires_at_ms)
          values ('${id}', 'x', 'write', 50, '30_days', ${spent}, 0, ${now_ms}, 9e15)`,
      );
    }
    const lines = [
      ["open", 0, 0, 0, "null"],
      ["adjustment", 100, 100, 0, "null"],
      ["reserve", -30, 70, 30, "'a'"],
      ["reserve", -20, 50, 50, "'b'"],
    ] as const;
    for (const [index, [kind, amount, balance, reserved, job]] of lines.entries()) {
      await query(
        "older",
        `insert into entries (line, kind, amount, balance_after, reserved_after, job_id, at_ms, open_jobs,
          recent_jobs) values (${index + 1}, '${kind}', ${amount}, ${balance}, ${reserved}, ${job},
          ${now_ms}, ${Math.max(0, index - 1)}, ${Math.max(0, index - 1)})`,
      );
    }
    for (const [id, token, reserved, line] of [
      ["a", "busy", 30, 3],
      ["b", "resting", 20, 4],
    ]) {
      await query(
        "older",
        `insert into jobs (id, status, app_slug, action, reserved, actual_cost, created_at_ms, updated_at_ms,
          expires_at_ms, line, personal_token_id)
          values ('${id}', 'started', 'demo', 'x', ${reserved}, 0, ${now_ms}, ${now_ms}, ${now_ms + 3_600_000}, ${line}, '${token}')`,
      );
    }
  });
  const spent = async () => {
    const tokens = await older().listPersonalTokens(SESSION);
    const rows = tokens.ok ? tokens.value : expect.fail("refused");
    return new Map(rows.map((token) => [token.id, token.spent]));
  };
  const create = (cost_estimate: number) => {
    const job = { app_slug: "demo", action: "x", ttl_seconds: 60, metadata_json: null };
    const request = { ...job, policy: { ...FIRST_POLICY }, cost_estimate };
    return older().createJob({ personal_token_id: "busy" }, request, null);
  };
  expect(await spent()).toEqual(
    new Map([
      ["busy", 30],
      ["resting", 20],
    ]),
  );
  expect(await create(21)).toMatchObject({ refusal: { code: "token_budget_exceeded", room: 20 } });
  expect(await create(20)).toMatchObject({ ok: true });
  await older().failJob(SESSION, { job_id: "a", refund: true }, null);
  expect(await spent()).toEqual(
    new Map([
      ["busy", 20],
      ["resting", 20],
    ]),
  );
  await expectInvariants("older");
});
