import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import migrations from "../../drizzle/account/migrations.js";
import { evict, query } from "../support/account_object.ts";

const FIRST = "personal_token_bounds";

function entries(): { readonly tag: string }[] {
  return (migrations as { journal: { entries: { tag: string }[] } }).journal.entries;
}

it("personal tokens of before keep what they could do and made, and end with no session", async () => {
  const all = [...entries()];
  const before = all.slice(
    0,
    all.findIndex(({ tag }) => tag.endsWith(FIRST)),
  );
  expect(before.length).toBeGreaterThan(0);
  try {
    entries().splice(0, entries().length, ...before);
    await runInDurableObject(env.ACCOUNT.getByName("older"), () => undefined);
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
    await evict("older");
  } finally {
    entries().splice(0, entries().length, ...all);
  }
  await evict("older");
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
