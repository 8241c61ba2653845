import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../src/domain/calendar.ts";
import { expectInvariants } from "../account/invariants.ts";
import { fromOwnPage } from "../support/device_logins.ts";
import { passTime } from "../support/clock.ts";
import { send, signIn, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { checkout, creditsOf, deliver, openStripe, PACKAGES, SELLING } from "./till.ts";

const [SMALL, LARGE] = PACKAGES;

/** The large package lasts 90 days, and only in one app. */
const TERMS = {
  ...SELLING,
  CREDIT_PACKAGES: JSON.stringify([
    SMALL,
    { ...LARGE, expires_after_days: 90, app_slugs: ["demo"] },
  ]),
};

async function buyLarge(ada: SignedIn) {
  const stripe = openStripe();
  const { body } = await checkout(ada, { package: "large" }, { settings: TERMS });
  const id = new URL(String(body.url)).pathname.split("/").at(-1) ?? "";
  await deliver(stripe.completes(id), TERMS);
  return { stripe, id };
}

async function spend(ada: SignedIn, actual_cost: number): Promise<void> {
  const job = { app: "demo", action: "draw", cost_estimate: actual_cost };
  const { job_id } = (await ada.post("/api/jobs", job)).body;
  await ada.post("/api/jobs/complete", { job_id, actual_cost });
}

const account = ({ identity_id }: SignedIn) => env.ACCOUNT.getByName(identity_id);

const walletOf = async (ada: SignedIn) => (await ada.get("/api/wallet?app=demo")).body;

describe("packages with terms", () => {
  it("credits of a package are bought, expire after its days, and are for its apps only", async () => {
    const ada = await signInWithCredits();
    await buyLarge(ada);
    const wallet = await walletOf(ada);
    expect(wallet).toMatchObject({
      account: { credits: 1_100 },
      bought: 1_000,
      spendable: 1_100,
      lots: [{ origin: "purchase", bought: true, app_slugs: ["demo"], left: 1_000, note: "Large" }],
    });
    const { entries } = (await ada.get("/api/ledger?kind=purchase")).body;
    expect(entries).toMatchObject([
      { lot_id: wallet.lots[0].id, terms: { bought: true, app_slugs: ["demo"] } },
    ]);
    const other = { app: "other", action: "draw", cost_estimate: 101 };
    expect((await ada.post("/api/jobs", other)).body).toMatchObject({ spendable: 100 });
    passTime(90 * DAY_MS);
    const later = await signIn("ada@example.com");
    expect(await walletOf(later)).toMatchObject({ account: { credits: 100 }, bought: 0 });
    await expectInvariants(ada.identity_id);
  });

  it("a refund takes the purchase's credits where they are left, then the base, and a won dispute gives them back", async () => {
    const ada = await signInWithCredits();
    const { stripe, id } = await buyLarge(ada);
    const job = { app: "demo", action: "draw", cost_estimate: 400 };
    await ada.post("/api/jobs", job);
    const disputed = stripe.disputes(id, "created", { amount: 3_333, status: "needs_response" });
    await deliver(disputed, TERMS);
    await deliver(
      stripe.disputes(id, "funds_withdrawn", { amount: 3_333, status: "needs_response" }),
      TERMS,
    );
    // 600 were left in the lot; the job holds 400, which the base owes.
    expect(await walletOf(ada)).toMatchObject({
      account: { credits: -300 },
      bought: 0,
      held: 400,
      lots: [{ left: 0, held: 400 }],
    });
    await expectInvariants(ada.identity_id);
    await deliver(stripe.disputes(id, "closed", { amount: 3_333, status: "won" }), TERMS);
    // As if nobody had disputed it: other apps can use the base again.
    expect(await walletOf(ada)).toMatchObject({
      account: { credits: 700 },
      spendable: 700,
      lots: [{ left: 600, held: 400 }],
    });
    const other = { app: "other", action: "draw", cost_estimate: 101 };
    expect((await ada.post("/api/jobs", other)).body).toMatchObject({ spendable: 100 });
    await expectInvariants(ada.identity_id);
  });

  it("a dispute that is won after the package's time gives back lasting credits where it took lasting ones", async () => {
    const ada = await signInWithCredits();
    const { stripe, id } = await buyLarge(ada);
    await spend(ada, 1_000);
    await account(ada).adjustCredits({ amount: 1_900, note: "A gift" }, null);
    const about = { amount: 3_333, status: "needs_response" };
    await deliver(stripe.disputes(id, "created", about), TERMS);
    // The package is spent, so the base pays.
    expect(await creditsOf(ada)).toBe(1_000);
    passTime(91 * DAY_MS);
    await deliver(stripe.disputes(id, "closed", { ...about, status: "won" }), TERMS);
    const later = await signIn("ada@example.com");
    expect(await walletOf(later)).toMatchObject({ account: { credits: 2_000 }, lots: [] });
    passTime(8 * DAY_MS);
    expect(await creditsOf(await signIn("ada@example.com"))).toBe(2_000);
    await expectInvariants(ada.identity_id);
  });

  it.each([
    ["lost while a job holds credits", false],
    ["lost before an operator refunds a job", true],
  ])(
    "after a dispute is %s, what comes back pays the base, and nothing expires unpaid",
    async (_, is_ended) => {
      const ada = await signInWithCredits();
      const { stripe, id } = await buyLarge(ada);
      const job = { app: "demo", action: "draw", cost_estimate: 400 };
      const { job_id } = (await ada.post("/api/jobs", job)).body;
      if (is_ended) await ada.post("/api/jobs/complete", { job_id, actual_cost: 400 });
      const about = { amount: 3_333, status: "lost" };
      await deliver(stripe.disputes(id, "closed", about), TERMS);
      expect(await creditsOf(ada)).toBe(-300);
      if (is_ended) await account(ada).refundJob({ job_id, amount: 400, note: "Sorry" }, null);
      else await ada.post("/api/jobs/fail", { job_id });
      expect(await walletOf(ada)).toMatchObject({ account: { credits: 100 }, lots: [] });
      passTime(91 * DAY_MS);
      expect(await creditsOf(await signIn("ada@example.com"))).toBe(100);
      await expectInvariants(ada.identity_id);
    },
  );

  it("the account page says a package's terms before the person buys it", async () => {
    const ada = await signIn();
    openStripe();
    const page = await send("GET", "/account", { headers: fromOwnPage(ada) }, TERMS);
    expect(page.text).toContain("usable for 90 days, only in Demo");
  });
});
