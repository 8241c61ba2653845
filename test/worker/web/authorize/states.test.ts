import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { countedEnvironment } from "../../support/bindings.ts";
import { change } from "../../support/account_object.ts";
import {
  allow,
  authorize,
  CALLBACK,
  queryOf,
  registerDemo,
  responseTo,
  serveDocuments,
  signedInBrowser,
} from "../../support/authorizations.ts";
import { CLAUDE } from "../../support/client_documents.ts";
import { send } from "../../support/passbook.ts";
import { suspend } from "../../support/passkeys.ts";
import type { Browser } from "../../support/browser.ts";

const OF_CLAUDE = { client_id: CLAUDE.client_id, redirect_uri: CLAUDE.redirect_uris[0] };

async function identityOf(browser: Browser): Promise<string> {
  return (await browser.get("/api/me", { Accept: "application/json" })).body.identity_id;
}

describe("a person whose account cannot be used", () => {
  it("the holder of a suspended account gets its page, and a client without a page an error", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const shown = await authorize(browser);
    const identity_id = await identityOf(browser);
    await suspend(identity_id);
    for (const answer of [await authorize(browser), await allow(browser, shown)]) {
      expect([answer.status, answer.headers.get("Location")]).toEqual([403, null]);
      expect(answer.text).toContain("This account is suspended");
      expect(answer.text.split("<footer")[0]?.match(/<button/g)).toHaveLength(1);
    }
    serveDocuments([CLAUDE]);
    for (const client of [{ redirect_uri: CALLBACK }, OF_CLAUDE]) {
      const answer = await authorize(browser, { ...client, prompt: "none" });
      expect(responseTo(answer, client.redirect_uri)?.["error"]).toBe("interaction_required");
    }
  });

  it("the holder of a deleted account is sent to sign in, and returns to the request", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const identity_id = await identityOf(browser);
    await env.ACCOUNT.getByName(identity_id).deleteAccount({ kind: "holder" });
    const answer = await authorize(browser);
    const location = new URL(answer.headers.get("Location") ?? "");
    expect([answer.status, location.pathname]).toEqual([303, "/signin"]);
    expect(location.searchParams.get("notice")).toBe("account_deleted");
    expect(location.searchParams.get("redirect_to")).toContain("/oauth/authorize?");
  });

  it("an account without room for a connection says so, with a way to make room", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const shown = await authorize(browser);
    const identity_id = await identityOf(browser);
    await fillAllowances(identity_id);
    for (const answer of [await authorize(browser), await allow(browser, shown)]) {
      expect([answer.status, answer.headers.get("Location")]).toEqual([400, null]);
      expect(answer.text).toContain("Too many connections");
      expect(answer.text).toContain('href="/account/access"');
    }
  });
});

describe("the hops of an authorization", () => {
  it("a signed-out person costs no call of an account and no read of KV", async () => {
    await registerDemo();
    const fetched = serveDocuments([CLAUDE]);
    const { environment, hops } = countedEnvironment();
    for (const changes of [OF_CLAUDE, { ...OF_CLAUDE, prompt: "none" }, { client_id: "x" }]) {
      await send("GET", `/oauth/authorize?${queryOf(changes)}`, {}, environment);
    }
    expect({ ...hops, fetched }).toEqual({ account: 0, d1: 0, kv: 0, fetched: [] });
  });
});

/** Gives an account as many personal tokens as it can have. */
async function fillAllowances(identity_id: string): Promise<void> {
  await change(
    identity_id,
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)
     insert into allowances (id, path, kind, label, scopes, session_id, ends_with_session, caps_json,
       stored_bytes, created_at_ms, expires_at_ms)
     select 'full-' || i, 'full-' || i, 'device', 'Full', 'read', 'x', 0, '[]', 0, 0, 9e15 from n`,
  );
}
