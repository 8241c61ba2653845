/** A person with automatic top-up, and the stand-in for Stripe that charges their card. */
import { vi } from "vitest";
import { cardChargesOf } from "../../../src/services.ts";
import { Account } from "../../../src/worker.ts";
import { fireAlarm, query, readAlarm } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import { fromOwnPage } from "../support/device_logins.ts";
import { environmentWith, send, signIn, type Answer, type SignedIn } from "../support/passbook.ts";
import type { CardMode, StripeDouble } from "../payments/stripe_double.ts";
import { deliver, openStripe, SELLING } from "../payments/till.ts";

/** The choice of {@link switchOn}: packages of 100 credits for 5.00 EUR. */
export const CHOICE = { package: "small", threshold: "50", month_limit: "50.00" };

/**
 * Opens the shop, for accounts' objects too: in tests those have no settings of their own. It is the second day of a month, so
 * that hours of a test stay in one month; and a later one than in the platform, so that no alarm fires by itself.
 */
export function openShop(): StripeDouble {
  const now = new Date();
  passTime(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 2) - now.getTime());
  const opened = { openCardCharges: () => cardChargesOf(environmentWith(SELLING)) };
  vi.spyOn(Account.prototype as unknown as typeof opened, "openCardCharges").mockImplementation(
    opened.openCardCharges,
  );
  return openStripe();
}

/** Sends the form of the page. */
export function sendForm(person: SignedIn, fields: Record<string, string>): Promise<Answer> {
  const body = new URLSearchParams(fields);
  return send("POST", "/account/top-up", { headers: fromOwnPage(person), body }, SELLING);
}

export function showPage(person: SignedIn, path = "/account/top-up"): Promise<Answer> {
  return send("GET", path, { headers: fromOwnPage(person) }, SELLING);
}

/** The holder fills in the form and saves a card. @returns the checkout's id */
export async function saveCard(
  stripe: StripeDouble,
  person: SignedIn,
  { mode = "pays", ...choice }: Partial<typeof CHOICE> & { mode?: CardMode } = {},
): Promise<string> {
  const sent = await sendForm(person, { act: "new_card", ...CHOICE, ...choice });
  const address = sent.headers.get("Location") ?? "";
  const id = new URL(address).pathname.split("/").at(-1) ?? "";
  const event = stripe.savesCard(id, mode);
  await deliver(event);
  return id;
}

/** Someone with 100 credits of `demo`, and automatic top-up below 50. */
export async function switchOn(
  stripe: StripeDouble,
  options: Partial<typeof CHOICE> & { mode?: CardMode; email?: string } = {},
): Promise<SignedIn> {
  const { email = "ada@example.com", ...choice } = options;
  const person = await signIn(email);
  await person.get("/api/wallet?app=demo");
  await saveCard(stripe, person, choice);
  return person;
}

export function spend(person: SignedIn, cost_estimate: number): Promise<Answer> {
  return person.post("/api/jobs", { app: "demo", action: "draw", cost_estimate });
}

/** Spends credits for good: a job that is completed. */
export async function pay(person: SignedIn, credits: number): Promise<void> {
  const { body } = await spend(person, credits);
  await person.post("/api/jobs/complete", { job_id: body.job_id, actual_cost: credits });
}

export interface StoredTopUp {
  readonly number: number;
  readonly attempt: number;
  readonly outcome: string;
  readonly failure: string | null;
  readonly credits: number;
  readonly amount_minor: number;
  readonly asked: number;
}

export function topUpsOf({ identity_id }: SignedIn): Promise<StoredTopUp[]> {
  return query(identity_id, "select * from top_ups order by number");
}

/** Fires the account's alarm until nothing is due by the Worker's clock. */
export async function settleDown({ identity_id }: SignedIn): Promise<void> {
  for (let round = 0; round < 10; round += 1) {
    const at_ms = await readAlarm(identity_id);
    if (at_ms === null || at_ms > Date.now()) return;
    await fireAlarm(identity_id);
  }
}

export async function topUpOf(person: SignedIn) {
  return (await person.get("/api/wallet")).body.topup;
}
