/** Operators name people by identity or by e-mail address. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { fireAlarm } from "../../../support/account_object.ts";
import { send, signIn, signInWithCredits } from "../../../support/passbook.ts";
import { openConsole, words } from "../../../web/console/pages.ts";
import { SETTINGS, signInOperator } from "./operators.ts";

const REASON = { reason: "why" };

async function withJob() {
  const olga = await signInOperator();
  const ada = await signInWithCredits();
  await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 5 });
  await fireAlarm(ada.identity_id);
  return { olga, ada };
}

/** Gives a second person the same address, as two providers can. */
async function twin(address: string) {
  const bob = await signIn("bob@example.com");
  await env.DIRECTORY.prepare("update users set email = ? where id = ?")
    .bind(address, bob.identity_id)
    .run();
  return bob;
}

describe("a person named by e-mail address", () => {
  it("every path of one account accepts the holder's e-mail address, in any case", async () => {
    const { olga, ada } = await withJob();
    for (const named of ["ada@example.com", "ADA%40Example.com"]) {
      const account = `/api/admin/accounts/${named}`;
      const { body } = await olga.get(account);
      expect(body.account.identity_id).toBe(ada.identity_id);
      expect((await olga.get(`${account}/jobs`)).body.jobs).toHaveLength(1);
      expect((await olga.get(`${account}/ledger?kind=reserve`)).body.entries).toHaveLength(1);
      const key = { "Idempotency-Key": named };
      const given = await olga.send("POST", `${account}/credits`, { amount: 5, ...REASON }, key);
      expect(given.status).toBe(200);
    }
    const { body } = await olga.get("/api/admin/audit?subject=Ada@example.com");
    expect(body.entries).toMatchObject([
      { subject: ada.identity_id },
      { subject: ada.identity_id },
    ]);
  });

  it("the filters of jobs and of the audit log accept e-mail addresses", async () => {
    const { olga, ada } = await withJob();
    await signInWithCredits("demo", "bob@example.com");
    const { jobs } = (await olga.get("/api/admin/jobs?identity_id=ada@example.com")).body;
    expect(jobs).toMatchObject([{ identity_id: ada.identity_id }]);
    await olga.send("POST", `/api/admin/accounts/${ada.identity_id}/suspend`, REASON);
    const actsOf = async (query: string) =>
      (await olga.get(`/api/admin/audit?${query}`)).body.entries.length;
    expect(await actsOf("actor=olga@example.com&subject=ada@example.com")).toBe(1);
    expect(await actsOf("actor=ada@example.com")).toBe(0);
  });

  it("an address that nobody has is 404, and only the whole address counts", async () => {
    const { olga } = await withJob();
    for (const path of [
      "/api/admin/accounts/ad@example.com",
      "/api/admin/accounts/ada@example.co",
      "/api/admin/jobs?identity_id=nobody@example.com",
      "/api/admin/audit?actor=nobody@example.com",
      "/api/admin/audit?subject=@",
    ]) {
      expect((await olga.get(path)).body.code, path).toBe("account_unknown");
    }
  });

  it("an address that several people have is 400 with their number, and changes nothing", async () => {
    const { olga, ada } = await withJob();
    const bob = await twin("Ada@example.com");
    for (const path of [
      "/api/admin/accounts/ada@example.com",
      "/api/admin/jobs?identity_id=ada@example.com",
      "/api/admin/audit?subject=ada@example.com",
    ]) {
      const { status, body } = await olga.get(path);
      expect([status, body.code, body.matches], path).toEqual([400, "identity_ambiguous", 2]);
    }
    const suspended = await olga.send(
      "POST",
      "/api/admin/accounts/ada@example.com/suspend",
      REASON,
    );
    expect(suspended.body.code).toBe("identity_ambiguous");
    for (const person of [ada, bob]) expect((await person.get("/api/wallet")).status).toBe(200);
  });

  it("an address that nobody verified finds its account, but does not name it for a change", async () => {
    const { olga, ada } = await withJob();
    await env.DIRECTORY.prepare("update users set email_verified = 0 where id = ?")
      .bind(ada.identity_id)
      .run();
    const account = "/api/admin/accounts/ada@example.com";
    expect((await olga.get(account)).body.account.identity_id).toBe(ada.identity_id);
    const key = { "Idempotency-Key": "gift" };
    const given = await olga.send("POST", `${account}/credits`, { amount: 5, ...REASON }, key);
    expect(given).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(given.body.error).toContain(ada.identity_id);
    const deleted = await olga.send("DELETE", account, { confirm: ada.identity_id, ...REASON });
    expect(deleted.status).toBe(400);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(95);
    const by_identity = `/api/admin/accounts/${ada.identity_id}/credits`;
    expect((await olga.send("POST", by_identity, { amount: 5, ...REASON }, key)).status).toBe(200);
  });

  it("an identity costs no query for the address", async () => {
    const { olga, ada } = await withJob();
    const queries: string[] = [];
    const DIRECTORY = new Proxy(env.DIRECTORY, {
      get: (target, name) =>
        name === "prepare"
          ? (query: string) => {
              queries.push(query);
              return target.prepare(query);
            }
          : Reflect.get(target, name).bind(target),
    });
    const settings = { ...SETTINGS, DIRECTORY };
    const headers = { Cookie: olga.person.cookies };
    const asked = async (named: string) => {
      queries.length = 0;
      await send("GET", `/api/admin/accounts/${named}/ledger`, { headers }, settings);
      return queries.length;
    };
    const by_identity = await asked(ada.identity_id);
    expect(await asked("ada@example.com")).toBe(by_identity + 1);
  });

  it("the console opens an account by address, and its filters say if an address names nobody", async () => {
    const { open } = await openConsole();
    const ada = await signInWithCredits();
    const { status, text } = await open("/console/accounts/ada@example.com");
    expect(status).toBe(200);
    expect(text).toContain(`/console/accounts/${ada.identity_id}/suspend`);
    for (const path of [
      "/console/jobs?identity_id=nobody@example.com",
      "/console/audit?actor=nobody@example.com",
    ]) {
      expect(words((await open(path)).text), path).toContain("Nobody has this e-mail address.");
    }
    await twin("ada@example.com");
    const ambiguous = await open("/console/accounts/ada@example.com");
    expect(ambiguous.status).toBe(400);
    expect(words(ambiguous.text)).toContain("Several people have this e-mail address");
    const filtered = await open("/console/jobs?identity_id=ada@example.com");
    expect(words(filtered.text)).toContain("2 people have this e-mail address");
  });
});
