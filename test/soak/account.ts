/**
 * One account with a bookkeeping of its own. Its requests follow each other, so that the book says exactly what each
 * response must be.
 */
import { signIn, type Person } from "../bench/people.ts";
import { sign, type StripeDouble } from "../worker/payments/stripe_double.ts";
import { expectRule, type Answer, type Caller, type Sent } from "./caller.ts";
import { Connection, CONNECTION_CAP_CREDITS } from "./connection.ts";
import { Stream } from "./stream.ts";

export const APP = "soak";
/** The credits of the package that the account buys. */
export const PACKAGE = { id: "small", credits: 100 };
/** The cap of each token that a device gets. */
const CAP_CREDITS = 20;
const TOKEN_RESERVE = 3;
const TOKEN_COST = 2;
/** A session token lives 15 minutes. */
const SIGNED_IN_MS = 8 * 60_000;
/** What is looked at again after each kill: the newest. */
const KEPT = 20;
const PAGE_ENTRIES = 200;
/** An entry arrives in a stream within this time, also after the service was killed. */
const STREAM_MAX_MS = 30_000;

interface Job {
  readonly id: string;
  readonly reserved: number;
}

interface Ended extends Job {
  readonly status: "completed" | "failed";
  readonly actual_cost: number | null;
}

interface Token {
  readonly proof: readonly string[];
  readonly id: string;
  spent: number;
}

interface Entry {
  readonly line: number;
  readonly kind: string;
  readonly amount: number;
  readonly balance_after: number;
}

/** The entries that have an event for the webhook. */
const EVENT_KINDS = ["grant", "purchase", "reserve", "settle", "refund"];

const isOfConnection = ([line = ""]: readonly string[]): boolean => line.includes(" pb_at_");

export class Account {
  readonly #caller: Caller;
  readonly #stripe: StripeDouble;
  #person: Person;
  #signed_in_at_ms = performance.now();
  #token: Token | null = null;
  #connection: Connection | null = null;
  /** The account's stream, which is open all the time. */
  readonly stream: Stream;
  #credits = 0;
  #started: Job[] = [];
  #ended: Ended[] = [];
  #newest_job_id: string | null = null;
  #answered: { readonly sent: Sent; readonly status: number; readonly text: string }[] = [];
  /** What was done, by name. */
  readonly done = new Map<string, number>();

  private constructor(caller: Caller, stripe: StripeDouble, person: Person) {
    this.#caller = caller;
    this.#stripe = stripe;
    this.#person = person;
    this.stream = new Stream(caller.service, () => this.#person.session);
  }

  /** Opens the account with the starter credits of the app. */
  static async open(caller: Caller, stripe: StripeDouble, email: string): Promise<Account> {
    const account = new Account(caller, stripe, await signIn(caller.service.url, email));
    const { json } = await account.#read(`/api/wallet?app=${APP}`);
    account.#credits = json.account.credits;
    return account;
  }

  get identity_id(): string {
    return this.#person.identity_id;
  }

  /** Does one thing; `chance` from 0 to 1 says which. */
  async act(chance: number): Promise<void> {
    if (performance.now() - this.#signed_in_at_ms > SIGNED_IN_MS) await this.#signInAgain();
    const acts: readonly (readonly [number, string, () => Promise<unknown>])[] = [
      [0.4, "jobs", () => this.#runJob(chance)],
      [0.42, "renewals of a connection", () => this.#renew()],
      [0.52, "batches", () => this.#runBatch()],
      [0.57, "reports of progress", () => this.#reportProgress()],
      [0.72, "wallets", () => this.#readWallet()],
      [0.82, "lists", () => this.#listJobs()],
      [0.89, "jobs of a capped token", () => this.#useToken()],
      [0.94, "jobs of an OAuth client", () => this.#useConnection()],
      [0.97, "purchases", () => this.#buy()],
      [0.999, "pages", () => this.#read("/account", this.#person.cookie)],
      [1, "exports", () => this.#read("/account/data.json", this.#person.cookie)],
    ];
    const chosen = acts.find(([below]) => chance < below);
    if (chosen === undefined) return;
    const [, name, run] = chosen;
    await run();
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
  }

  /** Checks whatever was answered before the service was killed. */
  async checkEverything(): Promise<void> {
    await this.#readWallet();
    for (const { sent, status, text } of this.#answered) {
      const again = await this.#caller.ask(sent);
      expectRule(
        again.status === status && again.text === text,
        `a repeated key gets its first response: ${sent.path} ${sent.key} of ${this.identity_id} got ${again.status} ${again.text} after ${status} ${text}`,
      );
    }
    for (const job of this.#started) await this.#checkJob(job.id, "started", null);
    for (const { id, status, actual_cost } of this.#ended)
      await this.#checkJob(id, status, actual_cost);
    await this.readLedger();
  }

  /** Checks that the ledger adds up. @returns the lines of the entries that have an event */
  async readLedger(): Promise<readonly number[]> {
    const entries: Entry[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined;) {
      const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const { json } = await this.#read(`/api/ledger?limit=${PAGE_ENTRIES}${query}`);
      entries.push(...json.entries);
      cursor = json.next_cursor ?? undefined;
    }
    entries.reverse();
    let balance = 0;
    for (const [at, { line, amount, balance_after }] of entries.entries()) {
      balance += amount;
      const where = `line ${line} of ${this.identity_id}`;
      expectRule(line === at + 1, `entries are numbered without gaps: ${where}`);
      expectRule(balance === balance_after, `the balance is the sum of the entries: ${where}`);
    }
    expectRule(
      balance === this.#credits,
      `the ledger adds up to what was answered: ${this.identity_id} has ${balance} and not ${this.#credits}`,
    );
    await this.#checkStream(entries.length);
    return entries.flatMap(({ kind, line }) => (EVENT_KINDS.includes(kind) ? [line] : []));
  }

  /** Waits until the stream has every entry. */
  async #checkStream(line: number): Promise<void> {
    const { stream, identity_id } = this;
    const until_ms = performance.now() + STREAM_MAX_MS;
    while (stream.line < line && stream.fault === null) {
      const where = `${stream.line} of ${line} lines of ${identity_id}`;
      expectRule(performance.now() < until_ms, `a stream gets each entry: ${where}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { fault, credits } = stream;
    expectRule(fault === null, `entries arrive in a stream in order: ${fault} of ${identity_id}`);
    expectRule(credits === this.#credits, `a stream ends with the balance: ${credits}`);
  }

  async #runJob(chance: number): Promise<void> {
    // Some jobs stay started, until there are several.
    const [oldest] = this.#started;
    if (oldest === undefined || this.#started.length < 3 || chance < 0.21) {
      await this.#create(this.#person.session, 5);
    } else {
      await this.#end(oldest, chance < 0.36);
    }
  }

  async #create(proof: readonly string[], reserved: number): Promise<Job> {
    const body = { app: APP, action: "draw", cost_estimate: reserved, metadata: { note: "soak" } };
    const { status, json, text } = await this.#once("/api/jobs", body, proof);
    expectRule(status === 200, `a job is created: ${status} ${text}`);
    return this.#noteCreated(json.job_id, reserved, json.credits);
  }

  #noteCreated(id: string, reserved: number, credits: number): Job {
    this.#credits -= reserved;
    this.#expectCredits(credits, "a creation");
    const job = { id, reserved };
    this.#started.push(job);
    this.#newest_job_id = id;
    return job;
  }

  async #end(job: Job, completes: boolean, proof = this.#person.session, cost = 2): Promise<void> {
    const body = completes ? { job_id: job.id, actual_cost: cost } : { job_id: job.id };
    const path = completes ? "/api/jobs/complete" : "/api/jobs/fail";
    const { status, json, text } = await this.#once(path, body, proof);
    expectRule(status === 200, `a job ends: ${status} ${text}`);
    this.#credits += completes ? job.reserved - cost : job.reserved;
    this.#expectCredits(json.credits, "an end");
    this.#started = this.#started.filter(({ id }) => id !== job.id);
    const actual_cost = completes ? cost : 0;
    const ended = { ...job, status: completes ? "completed" : "failed", actual_cost } as const;
    this.#ended = [...this.#ended, ended].slice(-KEPT);
  }

  async #runBatch(): Promise<void> {
    const job = { app: APP, action: "draw", cost_estimate: 2 };
    const created = await this.#once("/api/jobs/batch", { jobs: [job, job, job] });
    const ids = created.json.results.map(({ job_id }: { job_id: string }) => job_id) as string[];
    this.#credits -= 3 * job.cost_estimate;
    this.#expectCredits(created.json.credits, "a batch");
    const jobs = ids.map((job_id) => ({ job_id, actual_cost: 1 }));
    const ended = await this.#once("/api/jobs/complete/batch", { jobs });
    this.#credits += 3;
    this.#expectCredits(ended.json.credits, "an ended batch");
    this.#newest_job_id = ids.at(-1) ?? null;
  }

  async #reportProgress(): Promise<void> {
    const job = this.#started.at(-1);
    if (job === undefined) return;
    const body = { job_id: job.id, step: 1, done: 0.5, message: "halfway" };
    const { status, text } = await this.#ask("POST", "/api/jobs/progress", body);
    expectRule(status === 200 || status === 409, `progress is reported: ${status} ${text}`);
  }

  async #readWallet(): Promise<void> {
    const { json } = await this.#read("/api/wallet");
    this.#expectCredits(json.account.credits, "the wallet");
    const held = this.#started.reduce((sum, { reserved }) => sum + reserved, 0);
    expectRule(json.held === held, `the wallet holds what jobs reserved: ${json.held} of ${held}`);
  }

  async #listJobs(): Promise<void> {
    const { json } = await this.#read("/api/jobs?limit=50");
    const newest = json.jobs[0]?.id ?? null;
    expectRule(newest === this.#newest_job_id, `the newest job is listed first: ${newest}`);
  }

  /** Uses a device's token up to its cap, and then signs it out. */
  async #useToken(): Promise<void> {
    const token = (this.#token ??= await this.#signInDevice());
    if (token === null) return;
    if (token.spent + TOKEN_RESERVE <= CAP_CREDITS) {
      const job = await this.#create(token.proof, TOKEN_RESERVE);
      await this.#end(job, true, token.proof, TOKEN_COST);
      token.spent += TOKEN_COST;
      return;
    }
    const body = { app: APP, action: "draw", cost_estimate: TOKEN_RESERVE };
    const beyond = await this.#ask("POST", "/api/jobs", body, token.proof);
    expectRule(beyond.status >= 400, `no cap is exceeded: ${beyond.status} ${beyond.text}`);
    const revoked = await this.#ask("DELETE", `/api/tokens/${token.id}`);
    expectRule(revoked.status < 300 || revoked.is_repeated, `a token is revoked: ${revoked.text}`);
    const late = await this.#ask("GET", "/api/wallet", undefined, token.proof);
    expectRule(late.status === 401, `a revoked token is refused: ${late.status}`);
    this.#answered = this.#answered.filter(({ sent }) => sent.proof !== token.proof);
    this.#token = null;
  }

  /** Uses a connection up to its cap, and then revokes it. */
  async #useConnection(): Promise<void> {
    this.#connection ??= await Connection.open(this.#caller, APP, this.#person.cookie);
    const connection = this.#connection;
    if (connection === null) return;
    if (connection.spent + TOKEN_RESERVE <= CONNECTION_CAP_CREDITS) {
      const job = await this.#create(connection.proof, TOKEN_RESERVE);
      await this.#end(job, true, connection.proof, TOKEN_COST);
      connection.spent += TOKEN_COST;
      return;
    }
    const body = { app: APP, action: "draw", cost_estimate: TOKEN_RESERVE };
    const beyond = await this.#ask("POST", "/api/jobs", body, connection.proof);
    expectRule(beyond.status >= 400, `no cap is exceeded: ${beyond.status} ${beyond.text}`);
    const revoked = await this.#ask("DELETE", `/api/tokens/${await connection.id()}`);
    expectRule(revoked.status < 300 || revoked.is_repeated, `it is revoked: ${revoked.text}`);
    await connection.expectEnd();
    this.#connection = null;
    this.#forgetKeysOfConnections();
  }

  /** An access token lives ten minutes. */
  async #renew(): Promise<void> {
    await this.#connection?.refresh();
    this.#forgetKeysOfConnections();
  }

  /** A key is the caller's, but the header of the request that is repeated has ended. */
  #forgetKeysOfConnections(): void {
    this.#answered = this.#answered.filter(({ sent: { proof } }) => !isOfConnection(proof));
  }

  /** Null: the only response with the token was lost. */
  async #signInDevice(): Promise<Token | null> {
    const started = (await this.#ask("POST", "/api/device/start", {}, [])).json;
    const approval = {
      user_code: started.user_code,
      apps: [APP],
      caps: [{ credits: CAP_CREDITS }],
    };
    const approved = await this.#ask("POST", "/api/device/complete", approval, this.#person.cookie);
    expectRule(
      approved.status === 200 || approved.is_repeated,
      `a login is approved: ${approved.text}`,
    );
    const code = encodeURIComponent(started.device_code);
    const polled = await this.#ask("GET", `/api/device/poll?device_code=${code}`, undefined, []);
    if (polled.status !== 200) {
      const is_lost = polled.is_repeated || approved.is_repeated;
      expectRule(is_lost, `a device gets its token: ${polled.status} ${polled.text}`);
      return null;
    }
    const proof = [`Authorization: Bearer ${polled.json.token}`];
    const { json } = await this.#read("/api/tokens", proof);
    const own = json.tokens.find(({ current }: { current: boolean }) => current);
    return { proof, id: own.id, spent: 0 };
  }

  async #buy(): Promise<void> {
    const body = { package: PACKAGE.id, return_to: "http://localhost:3000/" };
    const { json, status, text } = await this.#once("/api/checkout", body);
    expectRule(status === 200, `a checkout opens: ${status} ${text}`);
    const id = new URL(json.url).pathname.split("/").at(-1) ?? "";
    const event = JSON.stringify(this.#stripe.completes(id));
    // Stripe sends it again until it has a response, and sometimes twice.
    for (let time = 0; time < 2; time += 1) {
      const headers = { "Stripe-Signature": await sign(event, Date.now()) };
      const sent = { method: "POST", path: "/webhooks/stripe", proof: [], body: event } as const;
      const booked = await this.#caller.ask({ ...sent, headers });
      expectRule(booked.status === 200, `a payment is booked: ${booked.status} ${booked.text}`);
    }
    this.#credits += PACKAGE.credits;
    // The key of a checkout is Stripe's.
    this.#answered = this.#answered.filter(({ sent }) => sent.path !== "/api/checkout");
    await this.#readWallet();
  }

  async #checkJob(id: string, status: string, cost: number | null): Promise<void> {
    const { json } = await this.#read(`/api/jobs/${id}`);
    const is_same = json.status === status && (cost === null || (json.actual_cost ?? 0) === cost);
    expectRule(is_same, `job ${id} is as answered: ${JSON.stringify(json)}, and not ${status}`);
  }

  #expectCredits(credits: number, what: string): void {
    const rule = `${what} of ${this.identity_id} has ${this.#credits} credits: ${credits}`;
    expectRule(credits === this.#credits, rule);
  }

  async #signInAgain(): Promise<void> {
    const before = this.#person.session;
    this.#person = await this.#caller.persist(() =>
      signIn(this.#caller.service.url, this.#person.email),
    );
    this.#signed_in_at_ms = performance.now();
    this.#answered = this.#answered.map((it) =>
      it.sent.proof === before ? { ...it, sent: { ...it.sent, proof: this.#person.session } } : it,
    );
  }

  async #read(path: string, proof = this.#person.session): Promise<Answer> {
    const answer = await this.#ask("GET", path, undefined, proof);
    expectRule(answer.status === 200, `${path} is read: ${answer.status} ${answer.text}`);
    return answer;
  }

  #ask(
    method: Sent["method"],
    path: string,
    body?: object,
    proof: readonly string[] = this.#person.session,
  ): Promise<Answer> {
    return this.#caller.ask({ method, path, proof, ...(body !== undefined && { body }) });
  }

  /** A write with a key. Its response is kept, to be compared with a later one. */
  async #once(path: string, body: object, proof = this.#person.session): Promise<Answer> {
    const sent = { method: "POST", path, body, proof, key: crypto.randomUUID() } as const;
    const answer = await this.#caller.ask(sent);
    const { status, text } = answer;
    this.#answered = [...this.#answered, { sent, status, text }].slice(-KEPT);
    return answer;
  }
}
