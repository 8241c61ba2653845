import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { expectInvariants } from "../../account/invariants.ts";
import { fireAlarm } from "../../support/account_object.ts";
import { getToken, tokenId } from "../../support/device_logins.ts";
import { send, type SignedIn } from "../../support/passbook.ts";
import { SETTINGS } from "../../http/api/admin/operators.ts";
import { consoleAndAda, hiddenFields, linesOf, pageOf, words } from "./pages.ts";

const creditsOf = async (ada: SignedIn) => (await ada.get("/api/wallet")).body.account.credits;

const GIVE = { direction: "give", amount: "50", reason: "an outage" };

describe("the account's page", () => {
  it("does not say that nothing has access while an app can use the account", async () => {
    const { ada, open } = await consoleAndAda();
    const text = words((await open(pageOf(ada))).text);
    expect(text).toContain("No client is connected, and no device or program has a token.");
    expect((await ada.getOwn("/api/access")).body.apps).toMatchObject([{ state: "open" }]);
  });
});

describe("giving and taking credits", () => {
  it("credits change once, and only after the review of the new balance is confirmed", async () => {
    const { olga, ada, fill, submit, open } = await consoleAndAda();
    const review = await fill(pageOf(ada, "/credits"), GIVE);
    expect(review.status).toBe(200);
    expect(words(review.text)).toContain("Now 100 Change +50 After 150");
    expect(await creditsOf(ada)).toBe(100);
    const confirming = hiddenFields(review.text);
    expect(confirming).toMatchObject({ ...GIVE, confirmed: "yes", key: review.sent["key"] });
    const answers = await Promise.all(
      [1, 2, 3].map(() => submit(pageOf(ada, "/credits"), confirming)),
    );
    for (const { status, headers } of [
      ...answers,
      await submit(pageOf(ada, "/credits"), confirming),
    ]) {
      expect([status, headers.get("Location")]).toEqual([303, `${pageOf(ada)}?notice=given`]);
    }
    expect(await creditsOf(ada)).toBe(150);
    expect(await linesOf(olga, ada.identity_id)).toMatchObject([
      {
        actor: olga.person.identity_id,
        act: "account.credits",
        reason: "an outage",
        details: { amount: 50, outcome: "done" },
      },
    ]);
    const { entries } = (await ada.get("/api/ledger?kind=adjustment")).body;
    expect(entries).toMatchObject([{ amount: 50, note: "an outage", balance_after: 150 }]);
    const page = words((await open(`${pageOf(ada)}?notice=given`)).text);
    expect(page).toContain("The credits were given.");
    expect(page).toContain("150 credits available");
    expect(page).toContain("an outage");
    await expectInvariants(ada.identity_id);
  });

  it("credits with terms are reviewed with their terms, and the account's pages say until when they can be used", async () => {
    const { ada, fill, submit, open } = await consoleAndAda();
    const terms = { until: "2099-01-31", app_slugs: "sketch, demo", bought: "yes", paid: "20 EUR" };
    for (const paid of ["20", "EUR", "20.005 EUR", "0 EUR", "20 QQQ"]) {
      const refused = await fill(pageOf(ada, "/credits"), { ...GIVE, ...terms, paid });
      expect([refused.status, words(refused.text)]).toEqual([
        400,
        expect.stringContaining("It must be such as 20.00 EUR"),
      ]);
    }
    const review = await fill(pageOf(ada, "/credits"), { ...GIVE, ...terms });
    expect(words(review.text)).toContain("The person paid 20 EUR for them.");
    expect(words(review.text)).toContain("What is left expires at the end of 2099-01-31 (UTC).");
    await submit(pageOf(ada, "/credits"), hiddenFields(review.text));
    expect((await ada.get("/api/wallet")).body.lots).toMatchObject([
      {
        left: 50,
        expires_at: "2099-02-01T00:00:00.000Z",
        app_slugs: ["demo", "sketch"],
        bought: true,
        note: "an outage",
      },
    ]);
    const page = words((await open(pageOf(ada))).text);
    expect(page).toContain("50 credits until 1 Feb 2099");
    expect(page).toContain("only in Demo, Sketch, bought · an outage");
    await fireAlarm(ada.identity_id);
    const money = words((await open("/console/money")).text);
    expect(money).toContain("EUR 50 20.00 EUR");
    expect(money).toContain("Given by operators, paid elsewhere 1 20.00 EUR");
    expect(page).toContain("Jobs use what expires first;");
  });

  it("the credits form with a day that is over is refused at its field", async () => {
    const { ada, fill } = await consoleAndAda();
    for (const until of ["2020-01-31", "tomorrow"]) {
      const answer = await fill(pageOf(ada, "/credits"), { ...GIVE, until });
      expect(answer.status).toBe(400);
      expect(words(answer.text)).toContain("The last day must be a day such as 2026-11-21");
    }
    expect(await creditsOf(ada)).toBe(100);
  });

  it("taking credits below zero needs a ticked box", async () => {
    const { ada, fill, submit } = await consoleAndAda();
    const take = { direction: "take", amount: "130", reason: "a mistake of ours" };
    const review = await fill(pageOf(ada, "/credits"), take);
    expect(words(review.text)).toContain("Now 100 Change −130 After −30");
    const confirming = hiddenFields(review.text);
    const refused = await submit(pageOf(ada, "/credits"), confirming);
    expect(refused.status).toBe(400);
    expect(words(refused.text)).toContain("Tick the box");
    expect(hiddenFields(refused.text)).toMatchObject({ ...take, key: confirming["key"] });
    expect(await creditsOf(ada)).toBe(100);
    const done = await submit(pageOf(ada, "/credits"), { ...confirming, below_zero: "yes" });
    expect(done.headers.get("Location")).toBe(`${pageOf(ada)}?notice=taken`);
    expect(await creditsOf(ada)).toBe(-30);
  });

  it.each([
    ["no direction", { direction: "" }, "direction", "Choose whether to give or take credits."],
    ["no number", { amount: "fifty" }, "amount", "must be a whole number."],
    ["a fraction", { amount: "1.5" }, "amount", "must be a whole number."],
    ["nothing", { amount: "0" }, "amount", "must not be 0."],
    ["too many", { amount: "1000000000001" }, "amount", "must be at most 1000000000000."],
    ["no reason", { reason: " " }, "reason", "must not be empty."],
    ["a long reason", { reason: "x".repeat(501) }, "reason", "must have at most 500 characters."],
  ])(
    "the credits form with %s is refused, keeps its values and names the problem at its field",
    async (_, wrong, field, text) => {
      const { olga, ada, fill } = await consoleAndAda();
      const typed = { ...GIVE, ...wrong };
      const answer = await fill(pageOf(ada, "/credits"), typed);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain("<title>Error: ");
      expect(answer.text).toContain('role="alert"');
      expect(answer.text).toMatch(new RegExp(`id="${field}-problem">[^<]*${text}`));
      expect(answer.text).toContain(`href="#${field}"`);
      if (typed.amount !== "") expect(answer.text).toContain(`value="${typed.amount}"`);
      expect(answer.text).toContain(typed.reason.trim());
      expect(hiddenFields(answer.text)["key"]).toBe(answer.sent["key"]);
      expect(await creditsOf(ada)).toBe(100);
      expect(await linesOf(olga, ada.identity_id)).toEqual([]);
    },
  );

  it("a form whose key was used for other values is refused and gets a new key", async () => {
    const { ada, submit } = await consoleAndAda();
    const form = { ...GIVE, confirmed: "yes", key: "one" };
    await submit(pageOf(ada, "/credits"), form);
    const again = await submit(pageOf(ada, "/credits"), { ...form, amount: "70" });
    expect(again.status).toBe(422);
    expect(words(again.text)).toContain("already sent with other values");
    expect(again.text).toContain('value="70"');
    const { key } = hiddenFields(again.text);
    expect(key).toMatch(/^[0-9a-f-]{36}$/);
    expect(await creditsOf(ada)).toBe(150);
  });

  it("the credits form is refused without a key and above the largest balance", async () => {
    const { ada, submit } = await consoleAndAda();
    const keyless = await submit(pageOf(ada, "/credits"), { ...GIVE, confirmed: "yes" });
    expect(keyless.status).toBe(400);
    const most = Number.MAX_SAFE_INTEGER - 1_000;
    await env.ACCOUNT.getByName(ada.identity_id).adjustCredits({ amount: most, note: "all" }, null);
    const form = { ...GIVE, amount: "1000000", confirmed: "yes", key: "one" };
    const answer = await submit(pageOf(ada, "/credits"), form);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('id="amount-problem"');
  });
});

const ACTS = [
  ["plan", { plan: "gold", reason: "paid" }, "account.plan"],
  ["suspend", { reason: "fraud" }, "account.suspend"],
  ["restore", { reason: "cleared" }, "account.restore"],
  ["signout", {}, "account.signout"],
  ["rebuild", {}, "account.rebuild"],
] as const;

describe("an operator's action", () => {
  it.each(ACTS)(
    "the form of %s runs once and writes one audit record",
    async (act, typed, name) => {
      const { olga, ada, fill, submit, open } = await consoleAndAda();
      const form = await open(pageOf(ada, `/${act}`));
      expect(form.status).toBe(200);
      const done = await fill(pageOf(ada, `/${act}`), typed);
      expect([done.status, done.headers.get("Location")]).toEqual([
        303,
        `${pageOf(ada)}?notice=${act}`,
      ]);
      expect((await submit(pageOf(ada, `/${act}`), done.sent)).status).toBe(303);
      expect(await linesOf(olga, ada.identity_id)).toMatchObject([
        {
          actor: olga.person.identity_id,
          act: name,
          reason: "reason" in typed ? typed.reason : null,
          details: { outcome: "done" },
        },
      ]);
      const { text } = await open(`${pageOf(ada)}?notice=${act}`);
      expect(text).toContain('<p class="notice" role="status"');
    },
  );

  it("the forms change the plan, suspend, restore and sign out the account", async () => {
    const { ada, fill, open } = await consoleAndAda();
    await fill(pageOf(ada, "/plan"), { plan: "gold", reason: "paid" });
    expect((await ada.get("/api/wallet")).body.account.plan).toBe("gold");
    const texts = { reason: "fraud", public_reason: "One card, ten accounts." };
    await fill(pageOf(ada, "/suspend"), texts);
    expect((await ada.get("/api/wallet")).body.public_reason).toBe(texts.public_reason);
    const page = await open(pageOf(ada));
    expect(words(page.text)).toContain("Suspended since");
    expect(words(page.text)).toContain(`The holder reads: “${texts.public_reason}”`);
    expect(page.text).toContain(pageOf(ada, "/restore"));
    await fill(pageOf(ada, "/restore"), { reason: "cleared" });
    expect((await ada.get("/api/wallet")).status).toBe(200);
    await fill(pageOf(ada, "/signout"), {});
    const headers = { Cookie: ada.cookies, Accept: "text/html" };
    expect((await send("GET", "/account", { headers })).status).toBe(303);
  });

  it("the revoke form revokes the token that it names and no other", async () => {
    const { olga, ada, open, fill } = await consoleAndAda();
    const token = await getToken(ada, {}, { client_name: "Build agent" });
    const other_token = await getToken(ada, {}, { client_name: "Laptop" });
    const id = await tokenId(token);
    const address = `${pageOf(ada, "/revoke-token")}?token_id=${id}`;
    const account = await open(pageOf(ada));
    expect(account.text).toContain(`href="${address}"`);
    expect(words((await open(address)).text)).toContain("Build agent");
    const done = await fill(address, { reason: "leaked" });
    expect(done.headers.get("Location")).toBe(`${pageOf(ada)}?notice=revoke-token`);
    expect((await token.get("/api/wallet")).status).toBe(401);
    expect((await other_token.get("/api/wallet")).status).toBe(200);
    expect(await linesOf(olga, ada.identity_id)).toMatchObject([
      { act: "account.personal_token.revoke", details: { personal_token_id: id } },
    ]);
    expect((await open(address)).status).toBe(404);
  });

  it.each([
    ["plan", { plan: "Not a plan!", reason: "paid" }, "plan"],
    ["plan", { plan: "gold", reason: "" }, "reason"],
    ["suspend", { reason: "" }, "reason"],
    ["suspend", { reason: "fraud", public_reason: "x".repeat(301) }, "public_reason"],
    ["restore", { reason: "x".repeat(501) }, "reason"],
    ["signout", { reason: "x".repeat(501) }, "reason"],
  ] as const)(
    "the form of %s with %j is refused and keeps its values",
    async (act, typed, field) => {
      const { olga, ada, fill } = await consoleAndAda();
      const answer = await fill(pageOf(ada, `/${act}`), typed);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain(`id="${field}-problem"`);
      for (const value of Object.values(typed)) expect(answer.text).toContain(value);
      expect(await linesOf(olga, ada.identity_id)).toEqual([]);
      expect((await ada.get("/api/wallet")).body.account.plan).toBe("free");
    },
  );

  it("an action whose audit record cannot be written is not run, and its form can be sent again", async () => {
    const { ada, submit } = await consoleAndAda();
    const audit = /into "?audit"?\b/;
    const failing = new Proxy(env.DIRECTORY, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (name !== "prepare") return typeof member === "function" ? member.bind(target) : member;
        return (query: string) => {
          if (audit.test(query)) throw new Error("D1_ERROR: out of reach");
          return target.prepare(query);
        };
      },
    });
    const broken = { ...SETTINGS, DIRECTORY: failing };
    const form = { ...GIVE, confirmed: "yes", key: "one" };
    const answer = await submit(pageOf(ada, "/credits"), form, broken);
    expect(answer.status).toBe(503);
    expect(words(answer.text)).toContain("it is done only once, however often you send it");
    expect(answer.text).toContain('value="50"');
    expect(hiddenFields(answer.text)["key"]).toBe("one");
    expect(await creditsOf(ada)).toBe(100);
    expect((await submit(pageOf(ada, "/credits"), form)).status).toBe(303);
    expect(await creditsOf(ada)).toBe(150);
  });

  it('an action on an unknown identity shows "Account not found" and a link to the console', async () => {
    const { open } = await consoleAndAda();
    const { status, text } = await open("/console/accounts/user_nobody/credits");
    expect(status).toBe(404);
    expect(text).toContain("Account not found");
    expect(text).toContain('href="/console"');
  });
});

describe("what the pages of actions promise", () => {
  it("a suspension stops the holder's own jobs and automatic top-up, and its page says so", async () => {
    const { ada, fill, open } = await consoleAndAda();
    const page = words((await open(pageOf(ada, "/suspend"))).text);
    expect(page).toContain("the other running jobs expire");
    expect(page).toContain("Automatic top-up is switched off, and stays off.");
    const job = { app: "demo", action: "draw", cost_estimate: 10 };
    const { job_id } = (await ada.post("/api/jobs", job)).body;
    await fill(pageOf(ada, "/suspend"), { reason: "a check" });
    const completed = await ada.post("/api/jobs/complete", { job_id, actual_cost: 10 });
    expect([completed.status, completed.body.code]).toEqual([403, "suspended"]);
  });

  it.each([
    ["/signout", "so do connections that may stay connected"],
    ["/delete", "or within a day if a database or a receiver of webhooks is down"],
  ])("the page %s says “%s”", async (path, text) => {
    const { ada, open } = await consoleAndAda();
    expect(words((await open(pageOf(ada, path))).text)).toContain(text);
  });
});
