/** The download of everything that the service stores about a person. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { signInOperator } from "../../http/api/admin/operators.ts";
import { deliver, openCheckout, openStripe } from "../../payments/till.ts";
import type { StripeDouble } from "../../payments/stripe_double.ts";
import { getToken, tokenId } from "../../support/device_logins.ts";
import { send, signIn, signInWithCredits, type SignedIn } from "../../support/passbook.ts";

function download(person: SignedIn) {
  const headers = { Cookie: person.cookies, Accept: "text/html" };
  return send("GET", "/account/data.json", { headers });
}

/** Buys a package and returns the checkout's id. */
async function buy(stripe: StripeDouble, person: SignedIn, package_id: string): Promise<string> {
  const id = await openCheckout(person, package_id);
  await deliver(stripe.completes(id));
  return id;
}

/** The names of all fields at any depth. */
function fieldsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(fieldsOf)];
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("the download of a person's data", () => {
  it("the download contains purchases with their refunds", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const id = await buy(stripe, ada, "large");
    await deliver(stripe.refunds(id, 1_000));
    const { body } = await download(ada);
    expect(body.purchases).toMatchObject([
      {
        checkout_session_id: id,
        package_name: "Large",
        credits: 1_000,
        amount_minor: 3_333,
        currency: "eur",
        taken_back: 301,
        refunds_and_disputes: [{ amount_minor: 1_000, state: "withheld" }],
      },
    ]);
  });

  it("the download contains operators' acts about the person but not which operator acted", async () => {
    const olga = await signInOperator();
    const ada = await signIn();
    const path = `/api/admin/accounts/${ada.identity_id}`;
    const credits = { amount: 5, reason: "a gift" };
    await olga.send("POST", `${path}/credits`, credits, { "Idempotency-Key": "gift" });
    const { body, text } = await download(ada);
    expect(body.operator_acts).toEqual([
      {
        at: expect.stringMatching(RFC_3339),
        by: "an operator",
        act: "account.credits",
        reason: "a gift",
        outcome: "done",
      },
    ]);
    expect(text).not.toContain(olga.person.identity_id);
    expect(text).not.toContain("olga@");
  });

  it("the holder of a suspended account can download its data", async () => {
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    const path = `/api/admin/accounts/${ada.identity_id}`;
    await olga.send("POST", `${path}/suspend`, { reason: "a check" });
    const headers = { Cookie: ada.cookies, Accept: "text/html" };
    expect((await send("GET", "/account", { headers })).status).toBe(403);
    const { status, body } = await download(ada);
    expect(status).toBe(200);
    expect(body.account).toMatchObject({ credits: 100, suspended_at: expect.any(String) });
    expect(body.operator_acts).toMatchObject([{ act: "account.suspend", reason: "a check" }]);
  });

  it("all times of the download are RFC 3339 texts", async () => {
    const stripe = openStripe();
    const ada = await signInWithCredits();
    await buy(stripe, ada, "small");
    await getToken(ada, {}, { client_name: "Laptop" });
    const { body } = await download(ada);
    expect(fieldsOf(body).filter((name) => name.endsWith("_ms"))).toEqual([]);
    for (const at of [
      body.exported_at,
      body.person.created_at,
      body.person.linked[0].linked_at,
      body.account.created_at,
      body.apps[0].granted_at,
      body.personal_tokens[0].expires_at,
      body.sessions[0].last_used_at,
      body.purchases[0].created_at,
      body.ledger[0].at,
    ]) {
      expect(at).toMatch(RFC_3339);
    }
  });

  it("the download contains every session and the used tokens that were revoked", async () => {
    const ada = await signIn();
    await env.DIRECTORY.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 450)
       insert into sessions select 'hash' || i, 'more' || i, user_id, created_at_ms, expires_at_ms,
         provider, browser, city, country
       from sessions, n where user_id = ?`,
    )
      .bind(ada.identity_id)
      .run();
    const token = await getToken(ada, { caps: [{ credits: 5 }] }, { client_name: "Old laptop" });
    await token.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 0 });
    await token.revoke(await tokenId(token));
    const { body } = await download(ada);
    expect(new Set(body.sessions.map(({ id }: { id: string }) => id)).size).toBe(451);
    expect(body.personal_tokens).toMatchObject([
      { label: "Old laptop", revoked_at: expect.stringMatching(RFC_3339) },
    ]);
  });
});
