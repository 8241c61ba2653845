import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { deliver, openCheckout, openStripe, SELLING } from "../../../payments/till.ts";
import { query } from "../../../support/account_object.ts";
import { signIn } from "../../../support/passbook.ts";
import { operatorOnPages, SETTINGS, signInOperator } from "./operators.ts";

const PATH = "/api/admin/payments/reconcile";
const settings = { ...SETTINGS, ...SELLING };

beforeEach(() => {
  for (const level of ["log", "warn", "error"] as const) vi.spyOn(console, level).mockReturnValue();
});

async function signInSeller() {
  return operatorOnPages((await signInOperator()).person, settings);
}

/** Entries of purchases and refunds. */
const amounts = async (identity_id: string) =>
  (await query<{ amount: number }>(identity_id, "select amount from entries order by line"))
    .map(({ amount }) => amount)
    .filter((amount) => amount !== 0);

describe("reconciling payments on demand", () => {
  it("an operator books what is missing, also of the last minute, and gets a report", async () => {
    const stripe = openStripe();
    const olga = await signInSeller();
    const ada = await signIn();
    const [known, lost] = [await openCheckout(ada), await openCheckout(ada, "large")];
    await deliver(stripe.completes(known));
    stripe.completes(lost);
    stripe.refunds(lost, 3_333);
    const { status, body } = await olga.send("POST", PATH, {});
    expect(status).toBe(200);
    const booked = { identity_id: ada.identity_id, payment_intent_id: `pi_${lost}` };
    expect(body).toEqual({
      checked: 3,
      booked: [
        { list: "checkouts", id: lost, credits: 1_000, ...booked },
        { list: "refunds", id: expect.stringMatching(/^re_\d+$/), credits: null, ...booked },
      ],
      not_booked: [],
    });
    expect(await amounts(ada.identity_id)).toEqual([100, 1_000, -1_000]);
    const again = await olga.send("POST", PATH);
    expect(again.body).toEqual({ checked: 3, booked: [], not_booked: [] });
    expect(await amounts(ada.identity_id)).toEqual([100, 1_000, -1_000]);
  });

  it("a long list is compared page by page, and any page may be repeated", async () => {
    const stripe = openStripe();
    const olga = await signInSeller();
    const ada = await signIn();
    const id = await openCheckout(ada);
    stripe.completes(id);
    const session = stripe.sessions.get(id);
    if (session === undefined) throw new Error("no checkout");
    for (let count = 0; count < 205; count += 1) {
      const foreign = { ...session, id: `cs_test_foreign${count}`, metadata: {} };
      stripe.sessions.set(foreign.id, foreign);
    }
    const first = await olga.send("POST", PATH);
    expect(first.body).toMatchObject({ checked: 200, booked: [] });
    const rest = { cursor: first.body.next_cursor };
    const second = await olga.send("POST", PATH, rest, { "Idempotency-Key": "rest" });
    expect(second.body).toMatchObject({ checked: 6, booked: [{ id }] });
    expect(second.body.next_cursor).toBeUndefined();
    const repeated = await olga.send("POST", PATH, rest, { "Idempotency-Key": "rest" });
    expect(repeated.body).toMatchObject({ checked: 6, booked: [] });
    expect(await amounts(ada.identity_id)).toEqual([100]);
    const { body } = await olga.get("/api/admin/audit?act=payments.reconcile");
    expect(body.entries).toHaveLength(2);
    expect(body.entries[0]).toMatchObject({ details: { ...rest, outcome: "done" } });
  });

  it("a payment whose account fails is reported, and the others are booked", async () => {
    const stripe = openStripe();
    const person = (await signInOperator()).person;
    const [ada, bob] = [await signIn(), await signIn("bob@example.com")];
    const [broken, whole] = [await openCheckout(ada), await openCheckout(bob)];
    for (const id of [broken, whole]) stripe.completes(id);
    const failing = { checkPayment: () => Promise.reject(new TypeError("broken")) };
    const ACCOUNT = new Proxy(env.ACCOUNT, {
      get: (target, name) =>
        name === "getByName"
          ? (id: string) => (id === ada.identity_id ? failing : target.getByName(id))
          : Reflect.get(target, name),
    });
    const olga = operatorOnPages(person, { ...settings, ACCOUNT });
    const { body } = await olga.send("POST", PATH);
    expect(body).toMatchObject({
      booked: [{ id: whole }],
      not_booked: [{ list: "checkouts", id: broken, code: "TypeError" }],
    });
  });

  it("what was booked is reported even if Stripe fails afterwards, and the next call gets the failure", async () => {
    const stripe = openStripe();
    const olga = await signInSeller();
    const ada = await signIn();
    const id = await openCheckout(ada);
    stripe.completes(id);
    const answer = stripe.answer.bind(stripe);
    vi.spyOn(stripe, "answer").mockImplementation(async (request) =>
      request.url.includes("/v1/refunds") ? new Response("", { status: 500 }) : answer(request),
    );
    const first = await olga.send("POST", PATH);
    expect(first.body).toMatchObject({ booked: [{ id }], next_cursor: "refunds" });
    const second = await olga.send("POST", PATH, { cursor: "refunds" });
    expect([second.status, second.body.code]).toEqual([503, "payments_unavailable"]);
    expect(second.headers.get("Retry-After")).not.toBeNull();
    const { body } = await olga.get("/api/admin/audit?act=payments.reconcile");
    expect(body.entries).toMatchObject([
      { details: { outcome: "refused" } },
      { details: { outcome: "done" } },
    ]);
  });

  it("a cursor that Stripe does not know is refused", async () => {
    openStripe();
    const olga = await signInSeller();
    const refused = await olga.send("POST", PATH, { cursor: "disputes:du_unknown" });
    expect([refused.status, refused.body.code]).toEqual([502, "payments_refused"]);
  });

  it.each([
    { cursor: 5 },
    { cursor: "payouts" },
    { cursor: "refunds:" },
    { cursor: "refunds:re_1&limit=1" },
    { cursor: `refunds:${"x".repeat(300)}` },
    { curser: "refunds" },
  ])("reconciling refuses the body %o and asks Stripe nothing", async (body) => {
    const stripe = openStripe();
    const olga = await signInSeller();
    const refused = await olga.send("POST", PATH, body);
    expect([refused.status, refused.body.code]).toEqual([400, "invalid_request"]);
    expect(stripe.asked).toEqual([]);
  });

  it("a service that sells no credits has nothing to reconcile and writes no audit entry", async () => {
    const olga = await signInOperator();
    const refused = await olga.send("POST", PATH, {});
    expect([refused.status, refused.body.code]).toEqual([404, "not_found"]);
    expect((await olga.get("/api/admin/audit")).body.entries).toEqual([]);
  });
});
