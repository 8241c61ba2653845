/** Privacy requests: operators export a person's data and delete their account. */
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { getToken } from "../../../../support/device_logins.ts";
import { send, signIn, signInWithCredits, type SignedIn } from "../../../../support/passbook.ts";
import { consoleAndAda, hiddenFields, pageOf, words } from "../../../../web/console/pages.ts";
import { operatorOnPages, SETTINGS, signInOperator } from "../operators.ts";

const of = ({ identity_id }: SignedIn) => `/api/admin/accounts/${identity_id}`;
const deletion = ({ identity_id }: SignedIn) => ({ confirm: identity_id, reason: "case 4711" });

async function people() {
  return { olga: await signInOperator(), ada: await signInWithCredits() };
}

describe("the export of a person's data", () => {
  it("is the same document as the holder's own download, and both contain the export", async () => {
    const { olga, ada } = await people();
    await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 5 });
    const exported = await olga.get(`${of(ada)}/export?reason=request%2012`);
    expect(exported.status).toBe(200);
    expect(exported.headers.get("Content-Disposition")).toContain("attachment");
    const own = await send("GET", "/account/data.json", { headers: { Cookie: ada.cookies } });
    const same = { exported_at: "", operator_acts: [] };
    expect({ ...exported.body, ...same }).toEqual({ ...own.body, ...same });
    expect(exported.body.ledger).toHaveLength(3);
    expect(own.body.operator_acts).toMatchObject([
      { act: "account.export", by: "an operator", reason: "request 12", outcome: "done" },
    ]);
  });

  it("leaves one audit record that names the operator, with and without a reason", async () => {
    const { olga, ada } = await people();
    await olga.get(`${of(ada)}/export`);
    await olga.get(`${of(ada)}/export?reason=why`);
    const { body } = await olga.get("/api/admin/audit?act=account.export");
    expect(body.entries).toMatchObject([
      { actor: olga.person.identity_id, subject: ada.identity_id, reason: "why" },
      { reason: null, details: { outcome: "done" } },
    ]);
  });

  it("works for a suspended account, by e-mail address, and for a viewer, and not for a stranger", async () => {
    const { olga, ada } = await people();
    await env.ACCOUNT.getByName(ada.identity_id).suspend();
    const exported = await olga.get("/api/admin/accounts/ada@example.com/export");
    expect(exported.body.account.suspended_at).not.toBeNull();
    const settings = { OPERATORS: "vera@example.com=viewer" };
    const vera = operatorOnPages(await signIn("vera@example.com"), settings);
    expect((await vera.get(`${of(ada)}/export`)).status).toBe(200);
    const bob = await signIn("bob@example.com");
    expect((await bob.get(`${of(ada)}/export`)).status).toBe(403);
    expect((await olga.get("/api/admin/accounts/user_nobody/export")).status).toBe(404);
  });

  it("nothing is exported if the audit log cannot be written", async () => {
    const { olga, ada } = await people();
    await env.DIRECTORY.exec("drop table audit");
    vi.spyOn(console, "error").mockReturnValue();
    const { status, text } = await olga.get(`${of(ada)}/export`);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(text).not.toContain("ada@example.com");
  });
});

describe("the deletion of an account by an operator", () => {
  it("ends every credential, forgets the person and keeps the reason in the audit log", async () => {
    const { olga, ada } = await people();
    const token = await getToken(ada);
    const texts = { reason: "Ada wrote to us", public_reason: "As you asked, Ada" };
    await olga.send("POST", `${of(ada)}/suspend`, texts);
    const deleted = await olga.send("DELETE", of(ada), deletion(ada), { "Idempotency-Key": "a" });
    expect([deleted.status, deleted.body]).toEqual([200, { ok: true }]);
    expect((await ada.get("/api/wallet")).status).toBe(401);
    expect((await token.get("/api/wallet")).status).toBe(401);
    expect((await olga.get(of(ada))).body.code).toBe("account_unknown");
    const { body } = await olga.get("/api/admin/audit");
    expect(JSON.stringify(body)).not.toContain("Ada");
    const subject = expect.stringMatching(/^deleted_/);
    expect(body.entries).toMatchObject([
      { act: "account.delete", subject, reason: "case 4711", details: { outcome: "done" } },
      { act: "account.suspend", subject, reason: null },
    ]);
    const returned = await signInWithCredits();
    expect(returned.identity_id).not.toBe(ada.identity_id);
    expect((await returned.get("/api/wallet")).body.account.credits).toBe(0);
  });

  it("requires the role admin, the identity as confirmation and a reason", async () => {
    const { olga, ada } = await people();
    const settings = { OPERATORS: "sam@example.com=support" };
    const sam = operatorOnPages(await signIn("sam@example.com"), settings);
    expect((await sam.send("DELETE", of(ada), deletion(ada))).body).toMatchObject({
      code: "role_required",
      role: "admin",
    });
    for (const body of [
      { reason: "why" },
      { confirm: ada.identity_id },
      { confirm: "ada@example.com", reason: "why" },
      { confirm: olga.person.identity_id, reason: "why" },
      { ...deletion(ada), force: true },
    ]) {
      const { status } = await olga.send("DELETE", "/api/admin/accounts/ada@example.com", body);
      expect(status, JSON.stringify(body)).toBe(400);
    }
    expect((await ada.get("/api/wallet")).status).toBe(200);
    expect((await olga.get("/api/admin/audit")).body.entries).toEqual([]);
  });

  it("a repeated deletion gets the first response, and leaves one audit record", async () => {
    const { olga, ada } = await people();
    for (const replayed of [null, "true", "true"]) {
      const answer = await olga.send("DELETE", of(ada), deletion(ada), { "Idempotency-Key": "a" });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("Idempotency-Replayed")).toBe(replayed);
    }
    expect((await olga.get("/api/admin/audit")).body.entries).toHaveLength(1);
    const nobody = { identity_id: "user_nobody" } as SignedIn;
    expect((await olga.send("DELETE", of(nobody), deletion(nobody))).status).toBe(404);
  });

  it("a deletion that was interrupted is finished by the next one", async () => {
    const { olga, ada } = await people();
    await env.ACCOUNT.getByName(ada.identity_id).deleteAccount({ kind: "operator" });
    expect((await olga.send("DELETE", of(ada), deletion(ada))).status).toBe(200);
    expect((await olga.get(of(ada))).status).toBe(404);
  });
});

describe("privacy requests in the console", () => {
  it("the export's form requires a reason and sends the document", async () => {
    const { open, submit, fill, ada } = await consoleAndAda();
    expect((await open(pageOf(ada))).text).toContain(pageOf(ada, "/export"));
    const without = await submit(pageOf(ada, "/export"), { key: "k", reason: "" });
    expect(without.status).toBe(400);
    const exported = await fill(pageOf(ada, "/export"), { reason: "request 12" });
    expect(exported.headers.get("Content-Disposition")).toContain("person-data.json");
    expect(exported.body.person.email).toBe("ada@example.com");
  });

  it("the deletion's form requires the identity, keeps what was typed, and then deletes", async () => {
    const { open, fill, submit, olga, ada } = await consoleAndAda();
    const path = pageOf(ada, "/delete");
    const wrong = await fill(path, { confirm: "ada@example.com", reason: "request 12" });
    expect(wrong.status).toBe(400);
    expect(words(wrong.text)).toContain("The identity is not the one of this account.");
    expect(wrong.text).toContain("request 12");
    expect((await ada.get("/api/wallet")).status).toBe(200);
    const form = { ...hiddenFields(wrong.text), reason: "request 12", confirm: ada.identity_id };
    const deleted = await submit(path, form);
    expect([deleted.status, deleted.headers.get("Location")]).toEqual([
      303,
      "/console/accounts?notice=delete",
    ]);
    expect(words((await open("/console/accounts?notice=delete")).text)).toContain(
      "The account was deleted.",
    );
    expect((await olga.get(of(ada))).status).toBe(404);
    expect((await open("/console/audit")).text).toContain("Account deleted");
    expect(SETTINGS.OPERATORS).toBe("olga@example.com");
  });
});
