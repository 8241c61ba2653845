import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { describe, expect, it } from "vitest";
import { Sessions } from "../../../src/identity/builtin/sessions.ts";
import { NO_COPY, type Origin } from "../../../src/identity/builtin/identity_queries.ts";
import { link, unlink } from "../../../src/identity/builtin/linking.ts";
import { Users } from "../../../src/identity/builtin/users.ts";

const ACME = { provider: "acme", subject: "ada", issuer: "https://acme.test", client_id: "c" };
const ZETA = { ...ACME, provider: "zeta", issuer: "https://zeta.test" };
const NOBODY = { name: null, email: null, email_verified: false };

const UNSEEN = { browser: null, city: null, country: null };

async function ada() {
  const database = drizzle(env.DIRECTORY);
  const store = {
    database,
    pseudonymsOf: async (identity: readonly string[]) => [JSON.stringify(identity)] as const,
    provider_ids: [],
    copy: NO_COPY,
  };
  const users = new Users(store);
  const sessions = new Sessions(database);
  const found = await users.findOrCreate(ACME, NOBODY);
  const user_id = found.kind === "found" ? found.user_id : "";
  const start = async (origin: Origin) => {
    const started = await sessions.start(user_id, origin, UNSEEN);
    if (started === null) throw new Error("no session");
    return started.session;
  };
  return { store, user_id, start };
}

describe("a session's binding", () => {
  it("the binding in a session token differs from the hash that D1 stores", async () => {
    const { start } = await ada();
    const { binding } = await start(ACME);
    const row = await env.DIRECTORY.prepare("select * from sessions").first();
    expect(Object.values(row ?? {})).not.toContain(binding);
  });
});

describe("unlinking", () => {
  it("unlinking returns the sessions that it ended", async () => {
    const { store, user_id, start } = await ada();
    const own = await start(ACME);
    expect(await link(store, own, ZETA)).toMatchObject({ kind: "linked" });
    const { id } = await start(ZETA);
    expect(await unlink(store, own, "zeta")).toMatchObject({
      kind: "unlinked",
      ended_sessions: [{ id, identity_id: user_id }],
    });
  });
});
