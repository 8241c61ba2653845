import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { fireAlarm } from "../../../../support/account_object.ts";
import { expectInvariants } from "../../../../account/invariants.ts";
import { getToken, tokenId } from "../../../../support/device_logins.ts";
import { send, signInWithCredits, type SignedIn } from "../../../../support/passbook.ts";
import { operatorOnPages, SETTINGS, signInOperator, type Operator } from "../operators.ts";

const of = (person: SignedIn) => `/api/admin/accounts/${person.identity_id}`;
const key = (name: string) => ({ "Idempotency-Key": name });

/** The audit records of a subject, oldest first. */
async function linesOf(olga: Operator, subject: string) {
  const { body } = await olga.get(`/api/admin/audit?subject=${subject}`);
  return body.entries.toReversed();
}

async function people() {
  return [await signInOperator(), await signInWithCredits()] as const;
}

describe("adjusting credits", () => {
  it("an operator's adjustment of credits appears with its reason in the ledger, the audit log and D1", async () => {
    const [olga, ada] = await people();
    const given = await olga.send(
      "POST",
      `${of(ada)}/credits`,
      { amount: 50, reason: "sorry" },
      key("a"),
    );
    expect(given.status).toBe(200);
    expect(given.body).toMatchObject({
      entry: { kind: "adjustment", amount: 50, balance_after: 150, note: "sorry" },
      credits: 150,
    });
    const taken = await olga.send(
      "POST",
      `${of(ada)}/credits`,
      { amount: -200, reason: "fraud", allow_negative: true },
      key("b"),
    );
    expect(taken.body.credits).toBe(-50);
    expect((await ada.get("/api/ledger?kind=adjustment")).body.entries).toMatchObject([
      { amount: -200, note: "fraud" },
      { amount: 50, note: "sorry" },
    ]);
    expect(await linesOf(olga, ada.identity_id)).toMatchObject([
      {
        actor: olga.person.identity_id,
        act: "account.credits",
        reason: "sorry",
        details: { amount: 50, outcome: "done" },
      },
      { reason: "fraud", details: { amount: -200, outcome: "done" } },
    ]);
    await expectInvariants(ada.identity_id);
    await fireAlarm(ada.identity_id);
    const [row] = (await olga.get(`/api/admin/accounts?q=${ada.identity_id}`)).body.accounts;
    expect(row).toMatchObject({ credits: -50, held: 0 });
  });

  it("an adjustment that is repeated with its key happens once and has one audit record", async () => {
    const [olga, ada] = await people();
    const give = () =>
      olga.send("POST", `${of(ada)}/credits`, { amount: 50, reason: "sorry" }, key("a"));
    const responses = await Promise.all([give(), give(), give()]);
    expect(responses.map(({ body }) => body.credits)).toEqual([150, 150, 150]);
    const replayed = await give();
    expect(replayed.headers.get("Idempotency-Replayed")).toBe("true");
    expect(await linesOf(olga, ada.identity_id)).toMatchObject([{ details: { outcome: "done" } }]);
    const other = { amount: 51, reason: "sorry" };
    const reused = await olga.send("POST", `${of(ada)}/credits`, other, key("a"));
    expect([reused.status, reused.body.code]).toEqual([422, "idempotency_key_reused"]);
    expect(await linesOf(olga, ada.identity_id)).toHaveLength(1);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(150);
  });

  it("an adjustment requires an idempotency key, an amount and a reason", async () => {
    const [olga, ada] = await people();
    for (const [body, headers] of [
      [{ amount: 5, reason: "why" }, {}],
      [{ amount: 0, reason: "why" }, key("a")],
      [{ amount: 1.5, reason: "why" }, key("a")],
      [{ amount: 5, reason: " " }, key("a")],
      [{ amount: 5 }, key("a")],
      [{ amount: 5, reason: "x".repeat(501) }, key("a")],
      [{ amount: 5, reason: "half a character \ud800" }, key("a")],
      [{ amount: 5, reason: "cut\0off" }, key("a")],
      [{ amount: 5, reason: "why", more: 1 }, key("a")],
    ] as const) {
      expect((await olga.send("POST", `${of(ada)}/credits`, body, headers)).status).toBe(400);
    }
    expect(await linesOf(olga, ada.identity_id)).toEqual([]);
  });

  it("a refused adjustment leaves its key unused and is recorded as refused", async () => {
    const [olga, ada] = await people();
    const most = Number.MAX_SAFE_INTEGER - 1_000;
    await env.ACCOUNT.getByName(ada.identity_id).adjustCredits({ amount: most, note: "all" }, null);
    const give = (body: object) => olga.send("POST", `${of(ada)}/credits`, body, key("a"));
    const refused = await give({ amount: 1_000_000, reason: "too much" });
    expect([refused.status, refused.body.code]).toEqual([400, "balance_limit"]);
    expect((await give({ amount: -5, reason: "less" })).status).toBe(200);
    expect(await linesOf(olga, ada.identity_id)).toMatchObject([
      { reason: "too much", details: { outcome: "refused" } },
      { reason: "less", details: { outcome: "done" } },
    ]);
  });

  it("an adjustment takes the balance below zero only with allow_negative", async () => {
    const [olga, ada] = await people();
    const take = (body: object, name: string) =>
      olga.send("POST", `${of(ada)}/credits`, { reason: "a chargeback", ...body }, key(name));
    for (const more of [{}, { allow_negative: false }]) {
      const refused = await take({ amount: -101, ...more }, "a");
      expect(refused).toMatchObject({
        status: 400,
        body: { code: "balance_below_zero", credits: 100, required: 101 },
      });
    }
    expect((await take({ amount: -101, allow_negative: "yes" }, "a")).status).toBe(400);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    expect((await take({ amount: -100 }, "b")).body.credits).toBe(0);
    expect((await take({ amount: -7, allow_negative: true }, "c")).body.credits).toBe(-7);
    expect((await take({ amount: -1 }, "d")).body.code).toBe("balance_below_zero");
    expect((await take({ amount: 2 }, "e")).body.credits).toBe(-5);
  });

  it("the account page shows the reason for a balance below zero", async () => {
    const [olga, ada] = await people();
    const reason = "a chargeback of your bank";
    const take = { amount: -140, reason, allow_negative: true };
    await olga.send("POST", `${of(ada)}/credits`, take, key("a"));
    await olga.send("POST", `${of(ada)}/credits`, { amount: 10, reason: "half" }, key("b"));
    const headers = { Cookie: ada.cookies, Accept: "text/html" };
    const page = (await send("GET", "/account", { headers })).text;
    expect(page).toContain(
      "The operator of this service took credits away: “a chargeback of your bank”.",
    );
    expect(page).not.toContain("A job cost more");
  });
});

describe("an action whose audit record cannot be written", () => {
  it.each([
    ["credits", { amount: 50, reason: "sorry" }],
    ["plan", { plan: "gold", reason: "sorry" }],
    ["suspend", { reason: "fraud" }],
    ["signout", { reason: "lost laptop" }],
  ])("the action %s does not run if its audit record cannot be written", async (act, body) => {
    const [olga, ada] = await people();
    await env.DIRECTORY.prepare("alter table audit rename to lost").run();
    const failed = await olga.send("POST", `${of(ada)}/${act}`, body, key("a"));
    expect(failed.status).toBeGreaterThanOrEqual(500);
    const wallet = await ada.get("/api/wallet");
    expect(wallet.body.account).toMatchObject({ credits: 100, plan: "free" });
    expect((await ada.get("/api/sessionToken")).status).toBe(200);
    await env.DIRECTORY.prepare("alter table lost rename to audit").run();
    expect((await olga.send("POST", `${of(ada)}/${act}`, body, key("a"))).status).toBe(200);
    expect(await linesOf(olga, ada.identity_id)).toMatchObject([{ details: { outcome: "done" } }]);
  });

  it("an action whose outcome cannot be recorded is finished when its key is sent again", async () => {
    const [olga, ada] = await people();
    await env.DIRECTORY.prepare(
      "create trigger deaf before insert on audit_outcomes begin select raise(abort, 'deaf'); end",
    ).run();
    const give = () =>
      olga.send("POST", `${of(ada)}/credits`, { amount: 50, reason: "sorry" }, key("a"));
    expect((await give()).body.credits).toBe(150);
    expect(await linesOf(olga, ada.identity_id)).toMatchObject([
      { details: { outcome: "unknown" } },
    ]);
    await env.DIRECTORY.prepare("drop trigger deaf").run();
    expect((await give()).body.credits).toBe(150);
    expect(await linesOf(olga, ada.identity_id)).toMatchObject([{ details: { outcome: "done" } }]);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(150);
  });
});

describe("other actions", () => {
  it("an operator sets the plan, and the change has a ledger entry", async () => {
    const [olga, ada] = await people();
    const body = { plan: "gold", reason: "paid by invoice" };
    const changed = await olga.send("POST", `${of(ada)}/plan`, body, key("a"));
    expect(changed.body).toMatchObject({ ok: true, account: { plan: "gold", credits: 100 } });
    expect((await ada.get("/api/wallet")).body.account.plan).toBe("gold");
    expect((await ada.get("/api/ledger?kind=plan")).body.entries).toMatchObject([
      { amount: 0, note: "paid by invoice" },
    ]);
    await fireAlarm(ada.identity_id);
    const [row] = (await olga.get(`/api/admin/accounts?q=${ada.identity_id}`)).body.accounts;
    expect(row.plan).toBe("gold");
  });

  it("an operator ends all sessions of an account once per key", async () => {
    const [olga, ada] = await people();
    const out = () => olga.send("POST", `${of(ada)}/signout`, { reason: "lost laptop" }, key("a"));
    expect((await out()).body).toEqual({ ok: true });
    expect((await ada.get("/api/sessionToken")).status).toBe(401);
    const again = await signInWithCredits();
    const replayed = await out();
    expect(replayed.headers.get("Idempotency-Replayed")).toBe("true");
    expect((await again.get("/api/sessionToken")).status).toBe(200);
    expect(await linesOf(olga, ada.identity_id)).toMatchObject([
      { act: "account.signout", reason: "lost laptop", details: { outcome: "done" } },
    ]);
    expect((await olga.send("POST", `${of(ada)}/signout`)).status).toBe(200);
    expect((await again.get("/api/sessionToken")).status).toBe(401);
  });

  it("an operator's key is refused with another body or from another operator", async () => {
    const [olga, ada] = await people();
    const settings = { OPERATORS: "olga@example.com, otto@example.com" };
    const otto = await signInWithCredits("demo", "otto@example.com");
    const second = operatorOnPages(otto, settings);
    const path = `${of(ada)}/suspend`;
    expect((await olga.send("POST", path, { reason: "fraud" }, key("a"))).status).toBe(200);
    expect((await olga.send("POST", path, { reason: "other" }, key("a"))).status).toBe(422);
    expect((await second.send("POST", path, { reason: "fraud" }, key("a"))).status).toBe(422);
    const body = { amount: 5, reason: "sorry" };
    expect((await olga.send("POST", `${of(ada)}/credits`, body, key("a"))).status).toBe(200);
    expect((await second.send("POST", `${of(ada)}/credits`, body, key("a"))).status).toBe(422);
    expect(await linesOf(olga, ada.identity_id)).toHaveLength(2);
  });

  it("an operator revokes a personal token", async () => {
    const [olga, ada] = await people();
    const holder = await getToken(ada);
    const path = `${of(ada)}/personal-tokens/${await tokenId(holder)}?reason=leaked`;
    expect((await olga.send("DELETE", path)).body).toEqual({ ok: true });
    expect((await holder.get("/api/wallet")).status).toBe(401);
    expect((await olga.send("DELETE", path)).body.code).toBe("personal_token_not_found");
    expect(await linesOf(olga, ada.identity_id)).toMatchObject([
      { act: "account.personal_token.revoke", reason: "leaked", details: { outcome: "done" } },
      { details: { outcome: "refused" } },
    ]);
  });

  it("an operator rebuilds an account's rows of the read model", async () => {
    const [olga, ada] = await people();
    await fireAlarm(ada.identity_id);
    await env.DB.prepare("update accounts set credits = 7").run();
    expect((await olga.send("POST", `${of(ada)}/rebuild`, {})).body).toEqual({ ok: true });
    const [row] = (await olga.get(`/api/admin/accounts?q=${ada.identity_id}`)).body.accounts;
    expect(row.credits).toBe(100);
  });
});

describe("an unknown identity", () => {
  it.each([
    ["GET", ""],
    ["GET", "/jobs"],
    ["GET", "/ledger"],
    ["POST", "/credits"],
    ["POST", "/plan"],
    ["POST", "/signout"],
    ["POST", "/rebuild"],
    ["POST", "/suspend"],
    ["POST", "/restore"],
    ["DELETE", "/personal-tokens/x"],
  ])(
    "%s %s for an unknown identity gets 404 and creates neither an object nor an audit record",
    async (method, below) => {
      const olga = await signInOperator();
      const identity_ids: string[] = [];
      const ACCOUNT = new Proxy(env.ACCOUNT, {
        get: (target, name) =>
          name === "getByName"
            ? (identity_id: string) => {
                identity_ids.push(identity_id);
                return target.getByName(identity_id);
              }
            : Reflect.get(target, name),
      });
      const body = method === "GET" ? undefined : { amount: 1, plan: "gold", reason: "why" };
      const { person } = olga;
      const watched = operatorOnPages(person, { ...SETTINGS, ACCOUNT });
      const response = await watched.send(
        method,
        `/api/admin/accounts/user_nobody${below}`,
        body,
        key("a"),
      );
      expect([response.status, response.body.code]).toEqual([404, "account_unknown"]);
      expect(identity_ids).toEqual([olga.person.identity_id]);
      expect(await linesOf(olga, "user_nobody")).toEqual([]);
    },
  );
});
