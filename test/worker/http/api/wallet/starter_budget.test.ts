import { env } from "cloudflare:workers";
import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { DAY_MS, utcDayOf } from "../../../../../src/domain/calendar.ts";
import { signInOperator, type Operator } from "../admin/operators.ts";
import { expectInvariants } from "../../../account/invariants.ts";
import { query } from "../../../support/account_object.ts";
import { saveApp } from "../../caller/app_server.ts";
import { environmentWith, send, signIn, type SignedIn } from "../../../support/passbook.ts";

function wallet(person: SignedIn, settings: object, app = "demo") {
  const headers = { Authorization: `Bearer ${person.token}` };
  return send("GET", `/api/wallet?app=${app}`, { headers }, settings);
}

async function people(count: number): Promise<SignedIn[]> {
  const all: SignedIn[] = [];
  for (let index = 0; index < count; index += 1) {
    all.push(await signIn(`person-${crypto.randomUUID()}@example.com`));
  }
  return all;
}

/** A new isolate that counts its calls to budgets and accounts. */
function counted(operator: Operator, lose: () => boolean = () => false) {
  const hops = { account: 0, budget: 0 };
  const counting = (name: keyof typeof hops, stub: object) =>
    new Proxy(stub, {
      get(target, method) {
        const member: unknown = Reflect.get(target, method);
        if (typeof member !== "function") return member;
        return async (...args: unknown[]) => {
          hops[name] += 1;
          const response: unknown = await Reflect.apply(member, target, args);
          if (name === "account" && hops.budget > 0 && lose()) throw new Error("response lost");
          return response;
        };
      },
    });
  const settings = environmentWith({
    ...operator.settings,
    ACCOUNT: { getByName: (name: string) => counting("account", env.ACCOUNT.getByName(name)) },
    STARTER_BUDGET: {
      getByName: (name: string) => counting("budget", env.STARTER_BUDGET.getByName(name)),
    },
  });
  return { settings, hops };
}

describe("a daily starter budget", () => {
  it("200 simultaneous first grants never exceed a daily starter budget, and every wallet gets a response", async () => {
    const operator = await signInOperator();
    await saveApp(operator, "crowd", { starter_credits: 30, daily_starter_budget: 1_000 });
    const all = await people(200);
    const responses = await Promise.all(
      all.map((person) => wallet(person, operator.settings, "crowd")),
    );
    expect(responses.map(({ status }) => status)).toEqual(all.map(() => 200));
    const granted = responses.filter(({ body }) => body.app_grant.granted);
    // 33 grants of 30 are 990. A 34th would exceed the budget of 1,000.
    expect(granted).toHaveLength(33);
    for (const { body } of responses) {
      expect(body.account.credits).toBe(body.app_grant.granted ? 30 : 0);
    }
    await expectInvariants(all[0]?.identity_id ?? "");
  });

  it("an account that came too late for a daily budget gets its grant on another day, once", async () => {
    // Ahead of the real time, so that the budget's object is not cleaned up by its alarm.
    const midnight_ms = (utcDayOf(Date.now()) + 2) * DAY_MS;
    vi.useFakeTimers({ toFake: ["Date"], now: midnight_ms - 10 * 60_000 });
    const operator = await signInOperator();
    await saveApp(operator, "evening", { starter_credits: 100, daily_starter_budget: 100 });
    const [ada, bob] = await people(2);
    if (ada === undefined || bob === undefined) throw new Error("two people");
    expect((await wallet(ada, operator.settings, "evening")).body.app_grant.granted).toBe(true);
    const refused = await wallet(bob, operator.settings, "evening");
    expect(refused.body).toMatchObject({ account: { credits: 0 }, app_grant: { granted: false } });
    expect(refused.body.apps[0]).toMatchObject({ granted: false, starter_credits: 100 });
    vi.setSystemTime(midnight_ms + 1_000);
    expect((await wallet(bob, operator.settings, "evening")).body.app_grant.granted).toBe(true);
    expect((await wallet(bob, operator.settings, "evening")).body.app_grant.granted).toBe(false);
    expect((await wallet(ada, operator.settings, "evening")).body.account.credits).toBe(100);
  });

  it("a grant within a daily budget costs two further hops, and later wallets cost none", async () => {
    const operator = await signInOperator();
    // An app of its own: another test's claims of today would count.
    await saveApp(operator, "hops", { starter_credits: 10, daily_starter_budget: 15 });
    await saveApp(operator, "free", { starter_credits: 10, daily_starter_budget: null });
    const [ada, bob] = await people(2);
    if (ada === undefined || bob === undefined) throw new Error("two people");
    const { settings, hops } = counted(operator);
    const cost = async (person: SignedIn, app: string) => {
      Object.assign(hops, { account: 0, budget: 0 });
      await wallet(person, settings, app);
      return [hops.account, hops.budget];
    };
    expect(await cost(ada, "hops")).toEqual([2, 1]);
    expect(await cost(ada, "hops")).toEqual([1, 0]);
    expect(await cost(bob, "hops")).toEqual([1, 1]);
    expect(await cost(bob, "free")).toEqual([1, 0]);
  });

  it("a grant is reserved and made once even if responses are lost", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const operator = await signInOperator();
    await saveApp(operator, "demo", { starter_credits: 10, daily_starter_budget: 20 });
    const [ada, bob, eve] = await people(3);
    if (ada === undefined || bob === undefined || eve === undefined) throw new Error("three");
    let lost = 0;
    const { settings } = counted(operator, () => (lost += 1) === 1);
    expect((await wallet(ada, settings)).status).toBeGreaterThanOrEqual(500);
    const again = await wallet(ada, operator.settings);
    expect(again.body).toMatchObject({ account: { credits: 10 }, app_grant: { granted: false } });
    expect((await wallet(bob, operator.settings)).body.app_grant.granted).toBe(true);
    expect((await wallet(eve, operator.settings)).body.app_grant.granted).toBe(false);
  });

  it("an account that requests twice before its grant reserves once", async () => {
    const day = Math.floor(Date.now() / DAY_MS);
    const budget = env.STARTER_BUDGET.getByName(`demo ${day}`);
    const claim = (claimant: string, credits = 10) =>
      budget.reserve({ day, claimant, credits, budget: 25 });
    expect(await claim("a")).toBe(10);
    // The reservation stays as it is, even if the app's grant in the registry has changed.
    expect(await claim("a", 20)).toBe(10);
    expect(await claim("b")).toBe(10);
    expect(await claim("c")).toBe(null);
    expect(await claim("c", 5)).toBe(5);
  });

  it("no grant is made from another day's budget or while the budget is unavailable", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const operator = await signInOperator();
    await saveApp(operator, "demo", { starter_credits: 10, daily_starter_budget: 20 });
    const [ada] = await people(1);
    if (ada === undefined) throw new Error("one");
    const yesterday = Math.floor(Date.now() / DAY_MS) - 1;
    const app = { slug: "demo", starter_credits: 10 };
    const reservation = { day: yesterday, credits: 10 };
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const late = await account.wallet({ kind: "holder" } as const, {
      app: { ...app, reservation },
    });
    expect(late.ok && late.value).toMatchObject({ grant_waits: true, account: { credits: 0 } });
    const unreachable = {
      getByName: () => ({
        reserve: async () => {
          throw new Error("out of reach");
        },
      }),
    };
    const settings = { ...operator.settings, STARTER_BUDGET: unreachable };
    const response = await wallet(ada, settings);
    expect(response).toMatchObject({ status: 200, body: { app_grant: { granted: false } } });
    expect(await query(ada.identity_id, "select * from entries where kind = 'grant'")).toEqual([]);
  });

  it("a used-up budget is logged once, and again after an operator changed it", async () => {
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    const operator = await signInOperator();
    const used_up = () =>
      warned.mock.calls.filter(([line]) => line.event === "starter_budget_used_up");
    await saveApp(operator, "demo", { starter_credits: 60, daily_starter_budget: 100 });
    for (const person of await people(3)) await wallet(person, operator.settings);
    const event = { event: "starter_budget_used_up", app_slug: "demo", used: 60, budget: 100 };
    expect(used_up()).toEqual([[event]]);
    await saveApp(operator, "demo", { starter_credits: 60, daily_starter_budget: 110 });
    for (const person of await people(2)) await wallet(person, operator.settings);
    expect(used_up()).toEqual([[event], [{ ...event, budget: 110 }]]);
  });

  it("the budget's object stores no identity and deletes its data after its day", async () => {
    const operator = await signInOperator();
    await saveApp(operator, "demo", { starter_credits: 10, daily_starter_budget: 20 });
    const [ada] = await people(1);
    if (ada === undefined) throw new Error("one");
    await wallet(ada, operator.settings);
    const day = Math.floor(Date.now() / DAY_MS);
    const stub = env.STARTER_BUDGET.getByName(`demo ${day}`);
    const { runInDurableObject } = await import("cloudflare:test");
    const contents = () =>
      runInDurableObject(stub, async (_, state) =>
        JSON.stringify([...(await state.storage.list())]),
      );
    expect(await contents()).toContain("claim ");
    expect(await contents()).not.toContain(ada.identity_id);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(await contents()).toBe("[]");
  });
});
