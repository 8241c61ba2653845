/**
 * People who delete their account and return, by any of their sign-in methods: starter credits are granted
 * once, and debts stay.
 */
import * as fc from "fast-check";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { histories } from "../support/histories.ts";
import { connect, openProviderDouble, type ProviderDouble } from "../support/provider_double.ts";
import { openBrowser, subjectOf, type Browser } from "../support/browser.ts";
import { holderOf, type TokenHolder } from "../support/device_logins.ts";
import { People } from "./people_model.ts";

const STARTER_CREDITS = 100;
const PROVIDERS = ["acme", "zeta"] as const;
/** Even identities belong to the first provider, odd ones to the second. An account has at most one of each provider. */
const IDENTITIES = [0, 1, 2] as const;

type Identity = (typeof IDENTITIES)[number];

const providerOf = (identity: Identity) => PROVIDERS[identity % 2 === 0 ? 0 : 1];

function openWorld(extra: object = {}) {
  const doubles = { acme: openProviderDouble("acme"), zeta: openProviderDouble("zeta") };
  const settings = { ...connect(doubles.acme, doubles.zeta), ...extra };
  const run = crypto.randomUUID();
  const personAt = (identity: Identity) => ({ sub: `${run}-${identity}` });
  const doubleOf = (identity: Identity): ProviderDouble => doubles[providerOf(identity)];
  return {
    tryToSignIn: (identity: Identity) =>
      openBrowser(settings).signIn(doubleOf(identity), personAt(identity)),
    signIn: async (identity: Identity) => {
      const browser = openBrowser(settings);
      await browser.signIn(doubleOf(identity), personAt(identity));
      const { body } = await browser.get("/api/sessionToken");
      return { browser, api: holderOf(body.token, settings), id: subjectOf(body.token) };
    },
    link: async (browser: Browser, identity: Identity) => {
      const started = await browser.post("/account/link", { provider: providerOf(identity) });
      const back = doubleOf(identity).approve(
        started.headers.get("Location") ?? "",
        personAt(identity),
      );
      return browser.get(back.href);
    },
  };
}

async function spend(api: TokenHolder, actual_cost: number): Promise<void> {
  const created = await api.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 0 });
  if (created.status === 402) return;
  await api.post("/api/jobs/complete", { job_id: created.body.job_id, actual_cost });
}

const creditsOf = async (api: TokenHolder): Promise<number> =>
  (await api.get("/api/wallet")).body.account.credits;

const takeStarter = async (api: TokenHolder): Promise<number> =>
  (await api.get("/api/wallet?app=demo")).body.account.credits;

const remove = (browser: Browser) => browser.post("/account/delete", { confirmation: "delete" });

describe("starter credits", () => {
  it("starter credits are not granted again after unlinking a method, deleting the account and returning", async () => {
    const { signIn, link } = openWorld();
    const first = await signIn(0);
    expect(await takeStarter(first.api)).toBe(STARTER_CREDITS);
    for (let round = 0; round < 4; round += 1) {
      const [stays, goes] = round % 2 === 0 ? ([1, 0] as const) : ([0, 1] as const);
      const { browser } = await signIn(goes);
      await link(browser, stays);
      await browser.post("/account/unlink", { provider: providerOf(goes) });
      await remove(browser);
      const returned = await signIn(goes);
      expect(await takeStarter(returned.api)).toBe(0);
    }
  });

  it("starter credits are not granted to an identity that was unlinked from a live account", async () => {
    const { signIn, link } = openWorld();
    const { browser, id } = await signIn(0);
    await link(browser, 1);
    await browser.post("/account/unlink", { provider: "zeta" });
    const other = await signIn(1);
    expect(other.id).not.toBe(id);
    expect(await takeStarter(other.api)).toBe(0);
  });

  it("starter credits are granted to a person who unlinked a method and linked it again", async () => {
    const { signIn, link } = openWorld();
    const { browser, api, id } = await signIn(0);
    await link(browser, 1);
    await browser.post("/account/unlink", { provider: "zeta" });
    await link(browser, 1);
    expect((await signIn(1)).id).toBe(id);
    expect(await takeStarter(api)).toBe(STARTER_CREDITS);
  });
});

describe("a negative balance", () => {
  it("a negative balance is owed again each time the person of a deleted account returns", async () => {
    const { signIn } = openWorld();
    let { browser, api } = await signIn(0);
    await spend(api, 4_900);
    for (let round = 0; round < 3; round += 1) {
      await remove(browser);
      ({ browser, api } = await signIn(0));
      expect(await creditsOf(api)).toBe(-4_900);
      const job = { app: "demo", action: "draw", cost_estimate: 0 };
      expect(await api.post("/api/jobs", job)).toMatchObject({ status: 402 });
    }
    const { entries } = (await api.get("/api/ledger")).body;
    expect(entries).toMatchObject([
      { kind: "debt", amount: -4_900, balance_after: -4_900 },
      { kind: "open" },
    ]);
  });

  it("a negative balance is owed again if the person returns by a method that was unlinked before", async () => {
    const { signIn, link } = openWorld();
    const { browser, api } = await signIn(0);
    await link(browser, 1);
    await browser.post("/account/unlink", { provider: "zeta" });
    await spend(api, 40);
    await remove(browser);
    expect(await creditsOf((await signIn(1)).api)).toBe(-40);
    // The person owes one debt, whichever method they use first.
    expect(await creditsOf((await signIn(0)).api)).toBe(0);
  });

  it("a negative balance is owed by the account that the identity is linked to", async () => {
    const { signIn, link } = openWorld();
    const indebted = await signIn(1);
    await spend(indebted.api, 40);
    await remove(indebted.browser);
    const { browser, api } = await signIn(0);
    expect(await takeStarter(api)).toBe(STARTER_CREDITS);
    await link(browser, 1);
    expect(await creditsOf(api)).toBe(60);
  });

  it("a debt is the balance after held credits were returned", async () => {
    const { signIn } = openWorld();
    const { browser, api } = await signIn(0);
    await takeStarter(api);
    const job = { app: "demo", action: "draw" };
    const overage = await api.post("/api/jobs", { ...job, cost_estimate: 0 });
    await api.post("/api/jobs", { ...job, cost_estimate: 90 });
    const { job_id } = overage.body;
    await api.post("/api/jobs/complete", { job_id, actual_cost: 30 });
    expect(await creditsOf(api)).toBe(-20);
    await remove(browser);
    expect(await creditsOf((await signIn(0)).api)).toBe(0);
  });

  it("a debt is owed once if the person returns by two methods at once", async () => {
    const { signIn, link } = openWorld();
    const { browser, api } = await signIn(0);
    await link(browser, 1);
    await spend(api, 40);
    await remove(browser);
    const returned = await Promise.all([signIn(0), signIn(1)]);
    const credits = await Promise.all(returned.map((it) => creditsOf(it.api)));
    expect(credits.toSorted((one, other) => one - other)).toEqual([-40, 0]);
  });

  it.each(["before", "after"])(
    "a debt is owed once if the sign-in is interrupted %s the account took it over, and repeated",
    async (moment) => {
      let is_cut_off = true;
      const getByName = (name: string) => {
        const stub = env.ACCOUNT.getByName(name);
        const oweDebts = async (debts: Parameters<typeof stub.oweDebts>[0]) => {
          if (moment === "after" || !is_cut_off) await stub.oweDebts(debts);
          if (is_cut_off) throw Object.assign(new Error("gone"), { retryable: true });
          return { ok: true };
        };
        return new Proxy(stub, {
          get: (target, method) => (method === "oweDebts" ? oweDebts : Reflect.get(target, method)),
        });
      };
      vi.spyOn(console, "error").mockReturnValue();
      const { signIn, tryToSignIn } = openWorld({ ACCOUNT: { getByName } });
      const { browser, api } = await signIn(0);
      await spend(api, 40);
      await remove(browser);
      expect((await tryToSignIn(0)).status).toBe(503);
      is_cut_off = false;
      expect(await creditsOf((await signIn(0)).api)).toBe(-40);
      expect(await creditsOf((await signIn(0)).api)).toBe(-40);
    },
  );

  it.each(["before", "after"])(
    "a debt is owed once if a deleted account was interrupted %s it took the debt over",
    async (moment) => {
      let is_cut_off = true;
      const getByName = (name: string) => {
        const stub = env.ACCOUNT.getByName(name);
        const oweDebts = async (debts: Parameters<typeof stub.oweDebts>[0]) => {
          if (moment === "after" || !is_cut_off) await stub.oweDebts(debts);
          if (is_cut_off) throw Object.assign(new Error("gone"), { retryable: true });
          return { ok: true };
        };
        return new Proxy(stub, {
          get: (target, method) => (method === "oweDebts" ? oweDebts : Reflect.get(target, method)),
        });
      };
      vi.spyOn(console, "error").mockReturnValue();
      const { signIn, link } = openWorld({ ACCOUNT: { getByName } });
      const indebted = await signIn(1);
      await spend(indebted.api, 40);
      await remove(indebted.browser);
      const { browser } = await signIn(0);
      expect((await link(browser, 1)).status).toBe(503);
      await remove(browser);
      is_cut_off = false;
      expect(await creditsOf((await signIn(1)).api)).toBe(-40);
      expect(await creditsOf((await signIn(0)).api)).toBe(0);
    },
  );

  it("a debt is named on the page that deletes the account", async () => {
    const { signIn } = openWorld();
    const { browser, api } = await signIn(0);
    await spend(api, 40);
    const { text } = await browser.get("/account/delete");
    expect(text).toContain("a debt of 40 credits: you owe it again if you open a new account");
    expect(text).not.toContain("-40 credits");
  });
});

type Act =
  | { readonly do: "starter" | "delete" }
  | { readonly do: "link"; readonly other: Identity }
  | { readonly do: "unlink"; readonly other: Identity }
  | { readonly do: "spend"; readonly credits: number };

const identity = fc.constantFrom(...IDENTITIES);
const linking = fc.constantFrom("link" as const, "unlink" as const);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("starter" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const) }) },
  { weight: 5, arbitrary: fc.record({ do: linking, other: identity }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("spend" as const), credits: fc.constantFrom(30, 170) }),
  },
);

describe("random histories of sign-in methods", () => {
  it(
    "N identities bring at most N starter grants, and no debt is lost or owed twice",
    { tags: ["history"] },
    async () => {
      const history = fc.array(fc.record({ as: identity, act }), { minLength: 12, maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(history, async (steps) => {
          const { signIn, link } = openWorld();
          const people = new People();
          const accounts = new Map<object, string>();
          for (const { as, act: step } of steps) {
            const { browser, api, id } = await signIn(as);
            const account = people.signIn(as);
            expect(accounts.get(account) ?? id).toBe(id);
            accounts.set(account, id);
            expect(await creditsOf(api)).toBe(account.credits);
            switch (step.do) {
              case "starter":
                await takeStarter(api);
                people.takeStarter(account, STARTER_CREDITS);
                break;
              case "delete":
                await remove(browser);
                people.delete(account);
                continue;
              case "link":
                await link(browser, step.other);
                people.link(account, step.other);
                break;
              case "unlink":
                await browser.post("/account/unlink", { provider: providerOf(step.other) });
                people.unlink(account, step.other);
                break;
              case "spend":
                await spend(api, step.credits);
                if (account.credits >= 0) account.credits -= step.credits;
                break;
            }
            expect(await creditsOf(api)).toBe(account.credits);
          }
          expect(people.starters).toBeLessThanOrEqual(IDENTITIES.length);
        }),
        // Shrinking would exceed the rate limits of sign-ins.
        { numRuns: histories(12), endOnFailure: true },
      );
    },
  );
});
