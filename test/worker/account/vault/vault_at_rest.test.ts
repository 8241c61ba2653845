/** A copy of the stores contains no usable secret. */
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { unseal } from "../../../../src/account/vault/sealing.ts";
import { connect, runOut, type Connected } from "../../support/connected.ts";
import { fakeUpstream, PROVIDER, type FakeUpstream } from "../../support/upstream.ts";

let upstream: FakeUpstream;
beforeEach(() => {
  upstream = fakeUpstream();
});

type Rows = Record<string, unknown>[];

/** Runs SQL inside a person's account object. */
function inAccount(person: Connected, sql: string, ...values: (string | number)[]): Promise<Rows> {
  return runInDurableObject(env.ACCOUNT.getByName(person.identity_id), (_, { storage }) =>
    storage.sql.exec(sql, ...values).toArray(),
  );
}

const TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '_cf_%'";

async function everythingStored(person: Connected): Promise<string> {
  const dump: unknown[] = [];
  for (const { name } of await inAccount(person, TABLES)) {
    dump.push(name, await inAccount(person, `SELECT * FROM "${String(name)}"`));
  }
  for (const database of [env.DIRECTORY, env.DB]) {
    const { results } = await database.prepare(TABLES).all();
    for (const { name } of results) {
      dump.push(name, (await database.prepare(`SELECT * FROM "${String(name)}"`).all()).results);
    }
  }
  for (const { name } of (await env.DEVICE_CODES.list()).keys) {
    dump.push(name, await env.DEVICE_CODES.get(name));
  }
  return JSON.stringify(dump);
}

describe("at rest", () => {
  it("no upstream token is stored in clear in the object, D1 or KV, or logged", async () => {
    const logged: unknown[] = [];
    for (const level of ["log", "info", "debug", "warn", "error"] as const) {
      vi.spyOn(console, level).mockImplementation((...words) => void logged.push(words));
    }
    const ada = await connect(upstream.grant(3600));
    await ada.get("/api/wallet?app=demo");
    await ada.oauthToken();
    await runOut(ada);
    upstream.answerNext(() => new Response("busy", { status: 503 }));
    await ada.oauthToken();
    await ada.oauthToken();
    await runOut(ada);
    upstream.revoke();
    await ada.oauthToken();

    const stored = await everythingStored(ada);
    const keys = JSON.parse(env.ENCRYPTION_KEYS).keys;
    const secrets = [
      ...upstream.access_tokens,
      ...upstream.refresh_tokens,
      PROVIDER.client_secret,
      keys[0].k,
    ];
    expect(secrets).toHaveLength(6);
    expect(stored).toContain("upstream_tokens");
    expect(stored).toContain(keys[0].kid);
    expect(logged).not.toHaveLength(0);
    for (const secret of secrets) {
      for (const form of [secret, btoa(secret), btoa(secret).replaceAll("=", "")]) {
        expect(stored).not.toContain(form);
        expect(JSON.stringify(logged)).not.toContain(form);
      }
    }
  });

  it("the same upstream tokens are sealed differently each time", async () => {
    const ada = await connect(upstream.grant(3600));
    const tokens = { ...upstream.grant(3600), access_token: "same", refresh_token: "same" };
    const sealed = new Set<unknown>();
    for (let time = 0; time < 5; time += 1) {
      await ada.keep(tokens);
      sealed.add((await inAccount(ada, "SELECT sealed FROM upstream_tokens"))[0]?.["sealed"]);
    }
    expect(sealed.size).toBe(5);
  });
});

describe("a sealed row", () => {
  it("a sealed row that was stored as an example still opens", async () => {
    const keys = [{ kid: "2026-01", k: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }];
    const sealed =
      "8iqyCXQsuodYfLMQvYuSWQbUq4m7RZMDA2DnDyjxXpbEY0EAz2x0_XIgdp1UYeyk5j83RiiLf-IiVHeAewo9MXmiYZIKB6vPHb7Xwgr62E0uYgw";
    const owner = { identity_id: "usr_ada", provider: "acme" };
    expect(await unseal(keys, owner, { key_id: "2026-01", sealed })).toBe(
      '{"access_token":"access-1","refresh_token":"refresh-1"}',
    );
  });

  it("a sealed row does not open in another account", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await connect(upstream.grant(3600));
    const eve = await connect(upstream.grant(3600), "eve@example.com");
    const [row] = await inAccount(ada, "SELECT key_id, sealed FROM upstream_tokens");
    await inAccount(eve, "UPDATE upstream_tokens SET sealed = ?", String(row?.["sealed"]));
    expect(await eve.oauthToken()).toMatchObject({
      status: 404,
      body: { code: "reconnect_required" },
    });
  });

  it("a sealed row does not open for another provider", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await connect(upstream.grant(3600));
    await inAccount(ada, "UPDATE upstream_tokens SET provider = 'other'");
    expect(await ada.oauthToken({}, "other")).toMatchObject({
      status: 404,
      body: { code: "reconnect_required" },
    });
  });

  it("an altered row does not open, and the log says so without its content", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const ada = await connect(upstream.grant(3600));
    const [row] = await inAccount(ada, "SELECT key_id, sealed FROM upstream_tokens");
    const sealed = String(row?.["sealed"]);
    for (const altered of [
      `${sealed.startsWith("A") ? "B" : "A"}${sealed.slice(1)}`,
      sealed.slice(0, -4),
      `${sealed}AAAA`,
      "",
      "not base64url!",
    ]) {
      await inAccount(ada, "UPDATE upstream_tokens SET sealed = ?", altered);
      expect((await ada.oauthToken()).body.code).toBe("reconnect_required");
    }
    expect(log).toHaveBeenCalledWith({
      event: "upstream_tokens_unreadable",
      provider: "acme",
      key_id: row?.["key_id"],
    });
  });

  it("a row that does not open is reconnect_required when it must be renewed", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await connect(upstream.grant(-1));
    await inAccount(ada, "UPDATE upstream_tokens SET sealed = 'AAAA'");
    expect((await ada.oauthToken()).body.code).toBe("reconnect_required");
    expect(upstream.requests).toHaveLength(0);
  });
});
