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
import { query, repeatAlarm } from "../support/account_object.ts";
import { environmentWith } from "../support/passbook.ts";
import { servicesFor } from "../../../src/services.ts";
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
    settings,
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

  describe("of payments that the bank takes back or returns after the account was deleted", () => {
    const open = (extra: object = {}) => {
      const world = openWorld(extra);
      const bookingOf = () => {
        const built = servicesFor(environmentWith(world.settings));
        return built.ok ? built.value.payment_booking : expect.fail("misconfigured");
      };
      const buy = async (identity_id: string, number = 1): Promise<void> => {
        const of_payment = {
          checkout_session_id: `cs_${number}`,
          payment_intent_id: `pi_${number}`,
        };
        const of_package = { package_id: "small", package_name: "Small", credits: 1_000 };
        const purchase = { ...of_payment, ...of_package, paid_minor: 500, currency: "eur" };
        await bookingOf().book({ kind: "purchase", identity_id, purchase });
      };
      type State = "withheld" | "lost" | "reinstated";
      const reverse = async (identity_id: string, state: State, minor = 500, number = 1) => {
        const ids = { payment_intent_id: `pi_${number}`, source_id: `dp_${number}_${minor}` };
        const reversal = { ...ids, amount_minor: minor, state };
        const effect = { kind: "reversal", identity_id, reversal, is_marked: true } as const;
        // The payment service repeats its events.
        for (const book of ["book", "bookMissing", "book"] as const) {
          expect((await bookingOf()[book](effect)).ok).toBe(true);
        }
      };
      const erase = async (identity_id: string): Promise<void> => {
        await repeatAlarm(identity_id);
        expect(await query(identity_id, "select * from purchases")).toEqual([]);
      };
      const leave = async (person: Awaited<ReturnType<typeof world.signIn>>): Promise<void> => {
        await remove(person.browser);
        await erase(person.id);
      };
      return { ...world, buy, reverse, leave, erase, bookingOf };
    };

    it("a chargeback after the deletion is owed on return, and what is left of the balance pays for it first", async () => {
      const { signIn, buy, reverse, leave } = open();
      const person = await signIn(0);
      await buy(person.id);
      await spend(person.api, 900);
      await leave(person);
      await reverse(person.id, "lost");
      const { api } = await signIn(0);
      expect(await creditsOf(api)).toBe(-900);
    });

    it("a chargeback between the deletion and the erasure of the rows is owed on return", async () => {
      const { signIn, buy, reverse, erase } = open();
      const person = await signIn(0);
      await buy(person.id, 2);
      await spend(person.api, 1_100);
      await remove(person.browser);
      await reverse(person.id, "withheld", 500, 2);
      await erase(person.id);
      expect(await creditsOf((await signIn(0)).api)).toBe(-1_100);
    });

    it("a chargeback while the directory notes what a deleted account owes is owed on return", async () => {
      let chargeBack: () => Promise<void> = async () => undefined;
      const getByName = (name: string) => {
        const stub = env.ACCOUNT.getByName(name);
        const readOwed = async () => {
          const owed = await stub.readOwed();
          await chargeBack();
          return owed;
        };
        return new Proxy(stub, {
          get: (target, method) => (method === "readOwed" ? readOwed : Reflect.get(target, method)),
        });
      };
      const { signIn, buy, reverse, leave } = open({ ACCOUNT: { getByName } });
      const person = await signIn(0);
      await buy(person.id);
      await spend(person.api, 900);
      chargeBack = () => reverse(person.id, "lost");
      await leave(person);
      const { api } = await signIn(0);
      expect(await creditsOf(api)).toBe(-900);
    });

    it("a dispute that is won after the deletion takes its credits from the debt", async () => {
      const { signIn, buy, reverse, leave } = open();
      const person = await signIn(0);
      await buy(person.id, 3);
      await spend(person.api, 1_100);
      await reverse(person.id, "withheld", 500, 3);
      await leave(person);
      await reverse(person.id, "reinstated", 500, 3);
      // An earlier event that arrives late changes nothing.
      await reverse(person.id, "withheld", 500, 3);
      expect(await creditsOf((await signIn(0)).api)).toBe(-100);
    });

    it("refunds of parts of several purchases after the deletion are owed together", async () => {
      const { signIn, buy, reverse, leave } = open();
      const person = await signIn(0);
      await buy(person.id, 4);
      await buy(person.id, 5);
      await spend(person.api, 2_000);
      await leave(person);
      await reverse(person.id, "withheld", 100, 4);
      await reverse(person.id, "withheld", 250, 5);
      await reverse(person.id, "withheld", 100, 5);
      expect(await creditsOf((await signIn(0)).api)).toBe(0 - 200 - 700);
    });

    it("a person who returned before the bank decides gets the change into their account", async () => {
      const { signIn, buy, reverse, leave } = open();
      const person = await signIn(0);
      await buy(person.id, 6);
      await spend(person.api, 1_100);
      await leave(person);
      const { api } = await signIn(0);
      expect(await creditsOf(api)).toBe(-100);
      await reverse(person.id, "withheld", 500, 6);
      expect(await creditsOf(api)).toBe(-1_100);
      await reverse(person.id, "reinstated", 500, 6);
      expect(await creditsOf(api)).toBe(-100);
      expect(await creditsOf((await signIn(0)).api)).toBe(-100);
    });

    it("a person who returned and owed nothing gets the change into their account, and into the next one", async () => {
      const { signIn, buy, reverse, leave } = open();
      const first = await signIn(0);
      await buy(first.id, 10);
      await spend(first.api, 900);
      await leave(first);
      const second = await signIn(0);
      expect(await creditsOf(second.api)).toBe(0);
      await reverse(first.id, "withheld", 500, 10);
      expect(await creditsOf(second.api)).toBe(-900);
      await reverse(first.id, "reinstated", 500, 10);
      expect(await creditsOf(second.api)).toBe(0);
      await leave(second);
      const third = await signIn(0);
      await reverse(first.id, "lost", 250, 10);
      expect(await creditsOf(third.api)).toBe(-400);
    });

    it("a person who deleted two accounts owes what both would owe together", async () => {
      const { signIn, buy, reverse, leave } = open();
      const first = await signIn(0);
      await buy(first.id, 7);
      await spend(first.api, 1_100);
      await leave(first);
      const second = await signIn(0);
      await buy(second.id, 8);
      expect(await creditsOf(second.api)).toBe(900);
      await leave(second);
      await reverse(first.id, "lost", 500, 7);
      const third = await signIn(0);
      expect(await creditsOf(third.api)).toBe(-100);
      await reverse(second.id, "withheld", 500, 8);
      expect(await creditsOf(third.api)).toBe(-1_100);
      await reverse(second.id, "reinstated", 500, 8);
      expect(await creditsOf((await signIn(0)).api)).toBe(-100);
    });

    it("a refund of a payment that the deleted account never had is dropped", async () => {
      const { signIn, leave, bookingOf } = open();
      const person = await signIn(0);
      await leave(person);
      const ids = { payment_intent_id: "pi_other", source_id: "re_other" };
      const reversal = { ...ids, amount_minor: 500, state: "withheld" } as const;
      const effect = {
        kind: "reversal",
        identity_id: person.id,
        reversal,
        is_marked: true,
      } as const;
      expect(await bookingOf().book(effect)).toEqual({ ok: true, value: "account_deleted" });
      expect(await creditsOf((await signIn(0)).api)).toBe(0);
    });

    it("the rows that stay of a deleted account name no payment", async () => {
      const { signIn, buy, leave } = open();
      const person = await signIn(0);
      await buy(person.id, 9);
      await leave(person);
      const kept = JSON.stringify(await query(person.id, "select * from kept_payments"));
      expect(kept).toContain("1000");
      expect(kept).not.toMatch(/pi_|cs_|user_/);
    });
  });

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
