import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { approve, fromOwnPage, startLogin, tokenId } from "../../../support/device_logins.ts";
import { send, signIn } from "../../../support/passbook.ts";
import { operatorWith, personalToken, SETTINGS, signInOperator } from "./operators.ts";

/** A path without a route: operators are checked before routing. */
const NOWHERE = "/api/admin/nowhere";

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

describe("operator access", () => {
  it("an operator's session cookie is accepted from our own pages and without a page", async () => {
    const olga = await signInOperator();
    expect((await olga.get(NOWHERE)).body.code).toBe("not_found");
    const headers = { Cookie: olga.person.cookies };
    expect((await send("GET", NOWHERE, { headers }, SETTINGS)).body.code).toBe("not_found");
  });

  it("without OPERATORS nobody is an operator", async () => {
    const { person } = await signInOperator();
    const headers = fromOwnPage(person);
    expect((await send("GET", NOWHERE, { headers })).body.code).toBe("not_operator");
  });

  it("an operator whose session has ended is refused, even with a valid session token", async () => {
    const olga = await signInOperator();
    await env.DIRECTORY.prepare("delete from sessions").run();
    expect((await olga.get(NOWHERE)).status).toBe(401);
  });

  it("a personal token has operator rights only with the scope admin", async () => {
    const { person } = await signInOperator();
    for (const [limits, code] of [
      [{}, "not_operator"],
      [{ scopes: ["read", "write", "upstream"] }, "not_operator"],
      [{ scopes: ["admin"] }, "not_found"],
      [{ scopes: ["read", "admin"] }, "not_found"],
    ] as const) {
      const token = await personalToken(person, limits);
      const response = await send("GET", NOWHERE, bearer(token?.token ?? ""), SETTINGS);
      expect(response.body.code, JSON.stringify(limits)).toBe(code);
    }
  });

  it("an admin token loses its rights when it is revoked and when its holder is no longer an operator", async () => {
    const { person } = await signInOperator();
    const token = await personalToken(person, { scopes: ["admin"] });
    const admin = operatorWith(person, token?.token ?? "", SETTINGS);
    const dismissed = await send("GET", NOWHERE, bearer(token?.token ?? ""), {
      OPERATORS: "nobody@example.com",
    });
    expect(dismissed.body.code).toBe("not_operator");
    const listed = (await person.getOwn("/api/tokens")).body.tokens;
    expect(listed).toMatchObject([{ scopes: ["admin"] }]);
    await send("DELETE", `/api/tokens/${listed[0].id}`, bearer(person.token));
    expect((await admin.get(NOWHERE)).status).toBe(401);
  });

  it("a token with only the scope admin has no access to its holder's account", async () => {
    const { person } = await signInOperator();
    const token = await personalToken(person, { scopes: ["admin"] });
    for (const path of ["/api/wallet?app=demo", "/api/jobs", "/api/ledger", "/api/tokens"]) {
      expect((await token?.get(path))?.body, path).toMatchObject({ code: "scope" });
    }
    const reader = await personalToken(person, { scopes: ["read", "admin"] });
    expect((await reader?.get("/api/wallet"))?.status).toBe(200);
    expect((await reader?.get("/api/wallet?app=demo"))?.status).toBe(403);
    expect((await reader?.revoke(await tokenId(reader)))?.status).toBe(200);
  });
});

describe("approving an admin token", () => {
  it("only an operator can approve a token with the scope admin", async () => {
    const ada = await signIn();
    const { user_code } = await startLogin();
    for (const scopes of [["admin"], ["read", "write", "admin"]]) {
      const refused = await approve(ada, user_code, { scopes }, SETTINGS);
      expect([refused.status, refused.body.code]).toEqual([403, "not_operator"]);
    }
    expect((await approve(ada, user_code, { scopes: ["read"] }, SETTINGS)).status).toBe(200);
  });
});
