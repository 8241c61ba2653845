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

/** Parameters of a checkout in setup mode. */
const KNOWN_SETUP =
  /^(mode|success_url|cancel_url|client_reference_id|customer_creation|payment_method_types\[0\]|metadata\[\w{1,40}\])$/;

/** Parameters of a payment intent. */
const KNOWN_PAYMENT =
  /^(amount|currency|customer|payment_method|payment_method_types\[0\]|confirm|off_session|metadata\[\w{1,40}\])$/;

/** How a card behaves at the next charges. */
export type CardMode = "pays" | "declined" | "authentication_required" | "processing";

/** Parameters of a checkout that the stand-in accepts; Stripe refuses any others. */
const KNOWN =
  /^(mode|success_url|cancel_url|client_reference_id|adaptive_pricing\[enabled\]|line_items\[0\]\[(price|quantity)\]|(payment_intent_data\[metadata\]|metadata)\[\w{1,40}\])$/;

/** Parameters of its lists that the stand-in accepts. */
const PAGE = "limit|starting_after|expand\\[\\]|created\\[(gte|lt)\\]";
const LIST_PARAMETERS: Readonly<Record<string, RegExp>> = {
  "/v1/checkout/sessions": new RegExp(`^(${PAGE})$`),
  "/v1/payment_intents": new RegExp(`^(${PAGE}|customer)$`),
  "/v1/refunds": new RegExp(`^(${PAGE}|charge)$`),
  "/v1/disputes": new RegExp(`^(${PAGE}|charge)$`),
};

interface Kind {
  readonly objects: () => ReadonlyMap<string, Object_>;
  readonly expandable?: string;
}

export class StripeDouble {
  /** Prices by id, in cents. */
  readonly prices: Record<string, number> = { price_small: 500, price_large: 3_333 };
  readonly sessions = new Map<string, Session>();
  /** Charges, refunds, disputes and payments by id, in their present state. */
  readonly charges = new Map<string, Object_>();
  readonly refunded = new Map<string, Object_>();
  readonly payments = new Map<string, Object_ & { amount_received: number }>();
  readonly disputed = new Map<string, Object_ & { balance_transactions: { amount: number }[] }>();
  /** Saved cards by id, each with its customer. `next`: how it behaves at the next charges, before it follows its mode. */
  readonly cards = new Map<
    string,
    { readonly customer: string; mode: CardMode; readonly next: CardMode[] }
  >();
  readonly #kept = new Map<string, { form: string; status: number; body: Object_ }>();
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
      return this.#once(form, request.headers.get("Idempotency-Key"), (it) => this.#create(it));
    }
    if (request.method === "POST" && pathname === "/v1/payment_intents") {
      return this.#once(form, request.headers.get("Idempotency-Key"), (it) => this.#charge(it));
    }
    return request.method === "GET" ? this.#read(new URL(request.url)) : unrecognized(pathname);
  }

  /** The readable kinds of objects by path, and the form of each with its expanded fields. */
  readonly #kinds: Readonly<Record<string, Kind>> = {
    "/v1/checkout/sessions": { objects: () => this.sessions, expandable: "line_items" },
    "/v1/refunds": { objects: () => this.refunded, expandable: "payment_intent" },
    "/v1/disputes": { objects: () => this.disputed, expandable: "payment_intent" },
    "/v1/charges": { objects: () => this.charges },
    "/v1/payment_intents": { objects: () => this.payments, expandable: "latest_charge" },
  };

  #read({ pathname, searchParams }: URL): Response {
    const listed = LIST_PARAMETERS[pathname];
    if (listed !== undefined) return this.#list(pathname, listed, searchParams);
    const [, path = "", id = ""] = /^(\/v1\/[\w/]+)\/(\w+)$/.exec(pathname) ?? [];
    const kind = this.#kinds[path];
    const price = this.prices[id];
    if (path === "/v1/prices" && price !== undefined) {
      const fixed = { active: true, type: "one_time", unit_amount: price, currency: "eur" };
      return Response.json({ id, object: "price", ...fixed });
    }
    if (kind === undefined) return unrecognized(pathname);
    for (const [name, value] of searchParams) {
      if (name !== "expand[]") return refusal(400, { code: "parameter_unknown", param: name });
      const is_card = path.endsWith("sessions") && value === "setup_intent.payment_method";
      if (value !== kind.expandable && !is_card) return notExpandable(value);
    }
    const found = kind.objects().get(id);
    return found === undefined
      ? missing("id")
      : Response.json(this.#show(path, found, searchParams.has("expand[]")));
  }

  /** A page of a list, newest first. It refuses the same parameters as Stripe. */
  #list(path: string, known: RegExp, query: URLSearchParams): Response {
    const { objects, expandable } = this.#kinds[path] ?? {};
    for (const [name, value] of query) {
      if (!known.test(name)) return refusal(400, { code: "parameter_unknown", param: name });
      if (name === "expand[]" && value !== `data.${expandable}`) return notExpandable(value);
      if (name.startsWith("created") && !/^\d{1,12}$/.test(value)) return invalid("created");
    }
    const limit = Number(query.get("limit") ?? 10);
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) return invalid("limit");
    const charge = query.get("charge");
    const customer = query.get("customer");
    if (charge !== null && !this.charges.has(charge)) return missing("charge");
    const least = Number(query.get("created[gte]") ?? 0);
    const below = Number(query.get("created[lt]") ?? Infinity);
    const all = [...(objects?.().values() ?? [])].toReversed();
    const after = query.get("starting_after");
    const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
    if (after !== null && start === 0) return missing("starting_after");
    const rest = all.slice(start).filter((it) => {
      const created = Number(it["created"]);
      return (
        created >= least &&
        created < below &&
        (charge === null || it["charge"] === charge) &&
        (customer === null || it["customer"] === customer)
      );
    });
    const data = rest.slice(0, limit).map((it) => this.#show(path, it, query.has("expand[]")));
    return Response.json({ object: "list", url: path, has_more: rest.length > limit, data });
  }

  #show(path: string, found: Object_, is_expanded: boolean): Object_ {
    const { price, payment_intent_metadata: _, line_items = null, ...shown } = found;
    if (shown["mode"] === "setup") {
      const intent = shown["setup_intent"] as { payment_method: string } | null;
      const card = { brand: "visa", last4: "4242" };
      const setup_intent = intent && {
        ...intent,
        payment_method: { id: intent.payment_method, card },
      };
      return is_expanded ? { ...shown, setup_intent, line_items: null } : shown;
    }
    if (path === "/v1/checkout/sessions") {
      // Like Stripe, expands a field only on request.
      if (!is_expanded) return shown;
      return {
        ...shown,
        line_items: line_items ?? { data: [{ price: { id: price }, quantity: 1 }] },
      };
    }
    if (path === "/v1/payment_intents") {
      const charge = [...this.charges.values()].find((it) => it["payment_intent"] === shown["id"]);
      const latest_charge = is_expanded ? (charge ?? null) : (charge?.["id"] ?? null);
      return { ...shown, latest_charge };
    }
    const payment = this.payments.get(String(shown["payment_intent"]));
    return is_expanded && payment !== undefined ? { ...shown, payment_intent: payment } : shown;
  }

  /** Repeats the first response of a key, and refuses the key with other parameters, as Stripe does. */
  #once(
    text: string,
    key: string | null,
    work: (form: URLSearchParams) => { readonly status: number; readonly body: Object_ } | Response,
  ): Response {
    const kept = key === null ? undefined : this.#kept.get(key);
    if (kept !== undefined) {
      const { status, body } = kept;
      return kept.form === text
        ? Response.json(body, { status, headers: { "Idempotent-Replayed": "true" } })
        : refusal(400, { type: "idempotency_error" });
    }
    const done = work(new URLSearchParams(text));
    // Stripe keeps no response to parameters that it refused.
    if (done instanceof Response) return done;
    // As it is now: a repetition gets the same.
    const { status, body } = structuredClone(done);
    if (key !== null) this.#kept.set(key, { form: text, status, body });
    return Response.json(body, { status });
  }

  #create(form: URLSearchParams): { readonly status: number; readonly body: Object_ } | Response {
    const is_setup = form.get("mode") === "setup";
    for (const name of form.keys()) {
      if (!(is_setup ? KNOWN_SETUP : KNOWN).test(name)) {
        return refusal(400, { code: "parameter_unknown", param: name });
      }
    }
    const price = form.get("line_items[0][price]") ?? "";
    if (is_setup) {
      // Dynamic payment methods would need a currency.
      if (form.get("payment_method_types[0]") !== "card")
        return refusal(400, { param: "currency" });
    } else if (this.prices[price] === undefined) return missing("line_items[0][price]");
    for (const name of ["success_url", "cancel_url"]) {
      if (!URL.canParse(form.get(name) ?? "")) return refusal(400, { code: "url_invalid" });
    }
    return { status: 200, body: this.#keep(form, price) };
  }

  /** The holder saves a card in a checkout of mode `setup`. */
  savesCard(id: string, mode: CardMode = "pays"): StripeEvent {
    const session = this.#session(id);
    if (session["mode"] !== "setup") throw new Error("it is not a setup");
    const number = (this.#count += 1);
    // Without `customer_creation: always`, a setup saves a card of no customer.
    const has_customer = session["customer_creation"] === "always";
    const customer = `cus_${number}`;
    const payment_method = `pm_${number}`;
    this.cards.set(payment_method, { customer: has_customer ? customer : "", mode, next: [] });
    Object.assign(session, {
      status: "complete",
      payment_status: "no_payment_required",
      customer: has_customer ? customer : null,
      setup_intent: { id: `seti_${number}`, payment_method },
    });
    return this.event("checkout.session.completed", session);
  }

  /** Creates and confirms a payment without the person. */
  #charge(form: URLSearchParams): { readonly status: number; readonly body: Object_ } | Response {
    for (const name of form.keys()) {
      if (!KNOWN_PAYMENT.test(name)) {
        return refusal(400, { code: "parameter_unknown", param: name });
      }
    }
    const customer = form.get("customer") ?? "";
    const method = form.get("payment_method") ?? "";
    const amount = Number(form.get("amount"));
    if (!Number.isInteger(amount) || amount < 50) return refusal(400, { code: "amount_too_small" });
    if (form.get("off_session") !== "true" || form.get("confirm") !== "true") {
      return refusal(400, { param: "off_session" });
    }
    if (customer === "" || method === "") return refusal(400, { code: "parameter_missing" });
    const card = this.cards.get(method);
    if (card === undefined) return missing("payment_method");
    if (card.customer !== customer) return refusal(400, { param: "payment_method" });
    const id = `pi_topup_${(this.#count += 1)}`;
    const mode = card.next.shift() ?? card.mode;
    const failed = mode === "declined" || mode === "authentication_required";
    const code = mode === "declined" ? "card_declined" : mode;
    const payment = {
      id,
      object: "payment_intent",
      created: now(),
      customer,
      amount,
      amount_received: mode === "pays" ? amount : 0,
      currency: form.get("currency") ?? "",
      metadata: nested(form, "metadata"),
      status: failed
        ? "requires_payment_method"
        : mode === "processing"
          ? "processing"
          : "succeeded",
      last_payment_error: failed ? { type: "card_error", code } : null,
    };
    this.payments.set(id, payment);
    if (failed) {
      const error = { type: "card_error", code, payment_intent: payment };
      return { status: 402, body: { error } };
    }
    this.charges.set(`ch_${id}`, {
      id: `ch_${id}`,
      object: "charge",
      payment_intent: id,
      amount,
      amount_refunded: 0,
      currency: payment.currency,
      receipt_url: `https://pay.stripe.com/receipts/${id}`,
    });
    return { status: 200, body: payment };
  }

  /** The charges that moved money. */
  charged(): readonly Object_[] {
    return [...this.payments.values()].filter(
      ({ id, amount_received }) => String(id).startsWith("pi_topup_") && amount_received > 0,
    );
  }

  /** The event of the newest charge. */
  chargeEvent(): StripeEvent {
    const payment = [...this.payments.values()].at(-1) ?? {};
    const paid = "status" in payment && payment.status === "succeeded";
    return this.event(`payment_intent.${paid ? "succeeded" : "payment_failed"}`, payment);
  }

  #keep(form: URLSearchParams, price: string): Object_ {
    const id = `cs_test_${(this.#count += 1)}`;
    const session: Session = {
      id,
      object: "checkout.session",
      mode: form.get("mode"),
      status: "open",
      created: now(),
      url: `${this.checkout_origin}/c/pay/${id}`,
      payment_status: "unpaid",
      payment_intent: null,
      amount_total: this.prices[price] ?? null,
      currency: form.get("mode") === "setup" ? null : "eur",
      customer: null,
      customer_creation: form.get("customer_creation"),
      setup_intent: null,
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
    this.payments.set(payment_intent, {
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
    const payment = this.payments.get(session.payment_intent ?? "");
    if (payment !== undefined) payment.amount_received = Number(session["amount_total"]);
    this.charges.set(`ch_${session.id}`, {
      id: `ch_${session.id}`,
      object: "charge",
      payment_intent: session.payment_intent,
      amount: session["amount_total"],
      amount_refunded: 0,
      currency: "eur",
      receipt_url: `https://pay.stripe.com/receipts/${session.id}`,
    });
  }

  /** `amount_refunded`: all that was refunded so far, in cents. The difference is a new refund. */
  refunds(id: string, amount_refunded: number): StripeEvent {
    const charge = this.#chargeOf(id);
    const [least, most] = [Number(charge["amount_refunded"]), Number(charge["amount"])];
    if (amount_refunded < least || amount_refunded > most) throw new Error("no such refund");
    charge["amount_refunded"] = amount_refunded;
    const refund = `re_${(this.#count += 1)}`;
    this.refunded.set(refund, {
      id: refund,
      object: "refund",
      charge: charge["id"],
      payment_intent: charge["payment_intent"],
      amount: amount_refunded - least,
      currency: "eur",
      status: "succeeded",
      created: now(),
    });
    return this.event("charge.refunded", charge);
  }

  /** The newest refund fails: the money is back with the seller. */
  refundFails(status: "failed" | "canceled" = "failed"): StripeEvent {
    const refund = [...this.refunded.values()].at(-1);
    const charge = this.charges.get(String(refund?.["charge"]));
    if (refund === undefined || charge === undefined) throw new Error("there is no refund");
    charge["amount_refunded"] = Number(charge["amount_refunded"]) - Number(refund["amount"]);
    refund["status"] = status;
    return this.event(status === "failed" ? "refund.failed" : "refund.updated", refund);
  }

  /** Changes a dispute. Withdrawing and returning funds are separate movements. */
  disputes(
    id: string,
    what: "created" | "closed" | "funds_withdrawn" | "funds_reinstated",
    about: { amount: number; status: string; currency?: string; number?: number },
  ): StripeEvent {
    const { number = 1, ...rest } = about;
    const charge = this.#chargeOf(id);
    const dispute = {
      id: `du_${number}_${id}`,
      object: "dispute",
      created: this.disputed.get(`du_${number}_${id}`)?.["created"] ?? now(),
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

  #chargeOf(id: string): Object_ {
    const charge = this.charges.get(`ch_${id}`);
    if (charge === undefined) throw new Error(`checkout ${id} has no money yet`);
    return charge;
  }

  /** Creates an event with a copy of the object's current state. */
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

/** The current time in seconds, the unit of Stripe's API. */
function now(): number {
  return Math.floor(Date.now() / 1000);
}

function notExpandable(field: string): Response {
  return refusal(400, { message: `This property cannot be expanded (${field})` });
}

function invalid(param: string): Response {
  return refusal(400, { code: "parameter_invalid_integer", param });
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
