/**
 * A stand-in for the part of Stripe that a checkout uses: it stores sessions and payments, refuses what Stripe
 * refuses, and sends events of the documented form. It is independent of Passbook and serves a mocked `fetch`
 * or a server on loopback.
 */
import Stripe from "stripe";

export const SECRET_KEY = "sk_test_standin";
export const WEBHOOK_SECRET = "whsec_standin";

type Object_ = Record<string, unknown>;

interface Session extends Object_ {
  readonly id: string;
  readonly success_url: string;
  readonly cancel_url: string;
  readonly price: string;
  readonly payment_intent_metadata: Record<string, string>;
  payment_status: "unpaid" | "paid";
  payment_intent: string | null;
}

/** An event as sent. */
export interface StripeEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly object: Object_ };
}

/** Parameters of a checkout that the stand-in accepts; Stripe refuses any others. */
const KNOWN =
  /^(mode|success_url|cancel_url|client_reference_id|adaptive_pricing\[enabled\]|line_items\[0\]\[(price|quantity)\]|(payment_intent_data\[metadata\]|metadata)\[\w{1,40}\])$/;

export class StripeDouble {
  /** Prices by id, in cents. */
  readonly prices: Record<string, number> = { price_small: 500, price_large: 3_333 };
  readonly sessions = new Map<string, Session>();
  /** Charges and disputes by id, in their present state. */
  readonly charges = new Map<string, Object_>();
  readonly disputed = new Map<string, Object_ & { balance_transactions: { amount: number }[] }>();
  readonly #payments = new Map<string, Object_ & { amount_received: number }>();
  readonly #kept = new Map<string, { form: string; body: Object_ }>();
  readonly asked: Request[] = [];
  #count = 0;
  /** The address that buyers are sent to; a browser test sets its own. */
  checkout_origin = "https://checkout.stripe.com";

  async answer(request: Request): Promise<Response> {
    this.asked.push(request.clone());
    const { pathname } = new URL(request.url);
    if (request.headers.get("Authorization") !== `Bearer ${SECRET_KEY}`) {
      return refusal(401, { message: "Invalid API Key provided: sk_test_****gone" });
    }
    const form = await request.text();
    if (request.method === "POST" && pathname === "/v1/checkout/sessions") {
      return this.#create(form, request.headers.get("Idempotency-Key"));
    }
    return request.method === "GET" ? this.#read(new URL(request.url)) : unrecognized(pathname);
  }

  #read({ pathname, searchParams }: URL): Response {
    const [, kind = "", id = ""] = /^\/v1\/([\w/]+)\/(\w+)$/.exec(pathname) ?? [];
    const kinds: Record<string, ReadonlyMap<string, Object_>> = {
      "checkout/sessions": this.sessions,
      payment_intents: this.#payments,
      charges: this.charges,
      disputes: this.disputed,
    };
    const objects = kinds[kind];
    if (objects === undefined) return unrecognized(pathname);
    for (const [name, value] of searchParams) {
      if (name !== "expand[]") return refusal(400, { code: "parameter_unknown", param: name });
      const is_known = kind === "checkout/sessions" && value === "line_items";
      if (!is_known)
        return refusal(400, { message: `This property cannot be expanded (${value})` });
    }
    const found = objects.get(id);
    if (found === undefined) return missing("id");
    const { price, payment_intent_metadata: _, ...shown } = found;
    // Only on request, as at Stripe.
    if (!searchParams.has("expand[]")) return Response.json(shown);
    const line_items = { data: [{ price: { id: price }, quantity: 1 }] };
    return Response.json({ ...shown, line_items });
  }

  #create(text: string, key: string | null): Response {
    const kept = key === null ? undefined : this.#kept.get(key);
    if (kept !== undefined) {
      return kept.form === text
        ? Response.json(kept.body, { headers: { "Idempotent-Replayed": "true" } })
        : refusal(400, { type: "idempotency_error" });
    }
    const form = new URLSearchParams(text);
    for (const name of form.keys()) {
      if (!KNOWN.test(name)) return refusal(400, { code: "parameter_unknown", param: name });
    }
    const price = form.get("line_items[0][price]") ?? "";
    if (this.prices[price] === undefined) return missing("line_items[0][price]");
    for (const name of ["success_url", "cancel_url"]) {
      if (!URL.canParse(form.get(name) ?? "")) return refusal(400, { code: "url_invalid" });
    }
    const body = this.#keep(form, price);
    if (key !== null) this.#kept.set(key, { form: text, body });
    return Response.json(body);
  }

  #keep(form: URLSearchParams, price: string): Object_ {
    const id = `cs_test_${(this.#count += 1)}`;
    const session: Session = {
      id,
      object: "checkout.session",
      mode: form.get("mode"),
      status: "open",
      url: `${this.checkout_origin}/c/pay/${id}`,
      payment_status: "unpaid",
      payment_intent: null,
      amount_total: this.prices[price],
      currency: "eur",
      client_reference_id: form.get("client_reference_id"),
      metadata: nested(form, "metadata"),
      success_url: form.get("success_url") ?? "",
      cancel_url: form.get("cancel_url") ?? "",
      price,
      payment_intent_metadata: nested(form, "payment_intent_data[metadata]"),
    };
    this.sessions.set(id, session);
    return session;
  }

  /** The buyer completes the form; the money arrives at once, or later by {@link moneyArrives}. */
  completes(id: string, money: "at once" | "later" = "at once"): StripeEvent {
    const session = this.#session(id);
    session["status"] = "complete";
    const payment_intent = `pi_${id}`;
    session.payment_intent = payment_intent;
    this.#payments.set(payment_intent, {
      id: payment_intent,
      object: "payment_intent",
      amount_received: 0,
      currency: "eur",
      metadata: session.payment_intent_metadata,
    });
    if (money === "at once") this.#receive(session);
    return this.event("checkout.session.completed", session);
  }

  moneyArrives(id: string): StripeEvent {
    const session = this.#session(id);
    this.#receive(session);
    return this.event("checkout.session.async_payment_succeeded", session);
  }

  #receive(session: Session): void {
    session.payment_status = "paid";
    const payment = this.#payments.get(session.payment_intent ?? "");
    if (payment !== undefined) payment.amount_received = Number(session["amount_total"]);
    this.charges.set(`ch_${session.id}`, {
      id: `ch_${session.id}`,
      object: "charge",
      payment_intent: session.payment_intent,
      amount: session["amount_total"],
      amount_refunded: 0,
      currency: "eur",
    });
  }

  /** `amount_refunded`: all that was refunded so far, in cents. */
  refunds(id: string, amount_refunded: number): StripeEvent {
    const charge = this.#charge(id);
    const [least, most] = [Number(charge["amount_refunded"]), Number(charge["amount"])];
    if (amount_refunded < least || amount_refunded > most) throw new Error("no such refund");
    charge["amount_refunded"] = amount_refunded;
    return this.event("charge.refunded", charge);
  }

  /** Changes a dispute. Withdrawing and returning funds are separate movements. */
  disputes(
    id: string,
    what: "created" | "closed" | "funds_withdrawn" | "funds_reinstated",
    about: { amount: number; status: string; currency?: string; number?: number },
  ): StripeEvent {
    const { number = 1, ...rest } = about;
    const charge = this.#charge(id);
    const dispute = {
      id: `du_${number}_${id}`,
      object: "dispute",
      charge: charge["id"],
      payment_intent: charge["payment_intent"],
      currency: "eur",
      balance_transactions: [
        ...(this.disputed.get(`du_${number}_${id}`)?.balance_transactions ?? []),
        ...(what === "funds_withdrawn" ? [{ amount: -about.amount }] : []),
        ...(what === "funds_reinstated" ? [{ amount: about.amount }] : []),
      ],
      ...rest,
    };
    this.disputed.set(dispute.id, dispute);
    return this.event(`charge.dispute.${what}`, dispute);
  }

  #charge(id: string): Object_ {
    const charge = this.charges.get(`ch_${id}`);
    if (charge === undefined) throw new Error(`checkout ${id} has no money yet`);
    return charge;
  }

  /** An event has its object in the state of its time. */
  event(type: string, object: object): StripeEvent {
    const data = { object: structuredClone(object) as Object_ };
    return { id: `evt_${(this.#count += 1)}`, type, data };
  }

  #session(id: string): Session {
    const session = this.sessions.get(id);
    if (session === undefined) throw new Error(`no checkout ${id}`);
    return session;
  }
}

function nested(form: URLSearchParams, name: string): Record<string, string> {
  return Object.fromEntries(
    [...form]
      .filter(([key]) => key.startsWith(`${name}[`))
      .map(([key, value]) => [key.slice(name.length + 1, -1), value]),
  );
}

function refusal(status: number, error: object): Response {
  return Response.json({ error: { type: "invalid_request_error", ...error } }, { status });
}

function unrecognized(path: string): Response {
  return refusal(404, { message: `Unrecognized request URL (${path})` });
}

function missing(param: string): Response {
  const status = param === "id" ? 404 : 400;
  return refusal(status, { code: "resource_missing", param });
}

/** The `Stripe-Signature` that Stripe's own library makes. */
export function sign(payload: string, at_ms: number, secret = WEBHOOK_SECRET): Promise<string> {
  const { webhooks } = new Stripe(SECRET_KEY);
  const timestamp = Math.floor(at_ms / 1000);
  return webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp });
}
