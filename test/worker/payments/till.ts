/** A Worker that sells credits, with the stand-in for Stripe. */
import { vi } from "vitest";
import { send, type Answer, type SignedIn } from "../support/passbook.ts";
import {
  SECRET_KEY,
  sign,
  StripeDouble,
  WEBHOOK_SECRET,
  type StripeEvent,
} from "./stripe_double.ts";

export const PACKAGES = [
  { id: "small", name: "Small", credits: 100, price: "price_small" },
  { id: "large", name: "Large", credits: 1_000, price: "price_large" },
];

export const SELLING = {
  CREDIT_PACKAGES: JSON.stringify(PACKAGES),
  STRIPE_SECRET_KEY: SECRET_KEY,
  STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
};

export const RETURN_URL = "http://localhost:3000/credits?from=shop";

/** Makes `fetch` reach the stand-in for the rest of a test. */
export function openStripe(): StripeDouble {
  const stripe = new StripeDouble();
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    if (origin !== "https://api.stripe.com") throw new TypeError(`not reachable: ${origin}`);
    return stripe.answer(request);
  });
  return stripe;
}

/** Requests a checkout like an app. */
export function checkout(
  person: Pick<SignedIn, "token">,
  body: object = {},
  { headers = {}, settings = SELLING }: { headers?: object; settings?: object } = {},
): Promise<Answer> {
  return send(
    "POST",
    "/api/checkout",
    {
      headers: {
        Authorization: `Bearer ${person.token}`,
        "Content-Type": "application/json",
        ...headers,
      },
      body: JSON.stringify({ package: "small", return_to: RETURN_URL, ...body }),
    },
    settings,
  );
}

/** Opens a checkout and returns its id. */
export async function openCheckout(person: SignedIn, package_id = "small"): Promise<string> {
  const { body } = await checkout(person, { package: package_id });
  return new URL(String(body.url)).pathname.split("/").at(-1) ?? "";
}

/** Delivers an event like Stripe, signed now. */
export async function deliver(event: StripeEvent, settings: object = SELLING): Promise<Answer> {
  const body = JSON.stringify(event);
  return post(body, await sign(body, Date.now()), settings);
}

export function post(body: string, signature: string, settings: object = SELLING): Promise<Answer> {
  const headers = { "Content-Type": "application/json", "Stripe-Signature": signature };
  return send("POST", "/webhooks/stripe", { headers, body }, settings);
}

export async function creditsOf(person: SignedIn): Promise<number> {
  const { body } = await person.get("/api/wallet");
  return body.account.credits;
}
