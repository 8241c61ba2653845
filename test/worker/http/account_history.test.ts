/** Random histories of one account through the public door, compared with a model after each request. */
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { DAY_MS } from "../../../src/domain/calendar.ts";
import { APPROVAL_TTL_MS } from "../../../src/domain/job_approval.ts";
import { expectInvariants } from "../account/invariants.ts";
import { evict, fireAlarm } from "../support/account_object.ts";
import type { SpendingCap } from "../../../src/domain/spending_cap.ts";
import { approve, fromOwnPage, holderOf, poll, postForm } from "../support/device_logins.ts";
import { startLogin, tokenId } from "../support/device_logins.ts";
import { narrow } from "../support/exchanges.ts";
import { histories, IS_SLOW_CHECK } from "../support/histories.ts";
import { connect, refresh, type Tokens } from "../support/oauth_clients.ts";
import { send, signIn, type Answer, type SignedIn } from "../support/passbook.ts";
import {
  appOfKey,
  APPS,
  bodyText,
  keyOf,
  Model,
  pathOf,
  shownJob,
  TOKENS,
} from "./account_model.ts";
import type { App, Body, Job, Request } from "./account_model.ts";
import { operatorOnPages, type Operator } from "./api/admin/operators.ts";
import { openAppServer, type AppServer } from "./caller/app_server.ts";

const UNLIMITED = { limit: async () => ({ success: true }) };
/** Many device logins come from one network. */
const SETTINGS = {
  OPERATORS: "olga@example.com",
  LIMIT_DEVICE_START: UNLIMITED,
  LIMIT_DEVICE_NETWORK: UNLIMITED,
};
const BEGIN_MS = Date.UTC(2027, 0, 27, 12);
/** Within the 10 minutes of an access token and the 15 of a session token. */
const FRESH_MS = 9 * 60_000;
/** Personal access tokens are valid for 90 days. */
const LAST_MS = BEGIN_MS + 80 * DAY_MS;
const UNKNOWN = "018f0000-0000-7000-8000-000000000000";

const app = fc.constantFrom(...(Object.keys(APPS) as App[]));
const token = fc.constantFrom(...Object.keys(TOKENS));
/** The job's creator and its app's key may end most jobs. */
const ender = fc.oneof(fc.constantFrom("creator", "its key", "holder"), token, app.map(keyOf));
/** An index counted from the newest job. An index past the oldest stands for an unknown job. */
const pick = fc.nat({ max: 4 });
const cost = fc.nat({ max: 35 });
const key = fc.constantFrom("a", "b", null);
const run = fc.constantFrom("one", "two");
const maybe = <Value>(one: fc.Arbitrary<Value>) => fc.option(one, { nil: undefined });
/** One, or several as a batch. */
const several = (one: fc.Arbitrary<Item>): fc.Arbitrary<Item | Item[]> =>
  fc.oneof(one, one, one, fc.array(one, { minLength: 1, maxLength: 4 }));

/** The body of a request. An end has an index and a run instead of the job's id and the run's step. */
type Item = Body & Partial<End>;
interface End {
  readonly pick: number;
  readonly run: string | undefined;
  /** Added to the last step of the run. */
  readonly later: number;
}
const end = { pick, run: maybe(run), later: fc.constantFrom(0, 0, 5) };
const job = fc.record({
  app,
  action: fc.constant("draw"),
  cost_estimate: cost,
  ttl_seconds: fc.constantFrom(60, 2_592_000),
});

const does = <Name extends string, Fields extends object>(
  name: Name,
  fields: { readonly [Field in keyof Fields]: fc.Arbitrary<Fields[Field]> },
) =>
  fc.record({ do: fc.constant(name), ...fields }) as fc.Arbitrary<{ readonly do: Name } & Fields>;

const creation = does("create", {
  by: fc.oneof(fc.constantFrom("holder", "its key"), token),
  jobs: several(job),
  key,
});
const completion = does("complete", {
  by: ender,
  jobs: several(fc.record({ ...end, actual_cost: cost })),
  key,
});
const terms = fc.constantFrom<Body>({}, { refund: false }, { cost: 5 }, { cost: 30 });
const progress = does("progress", {
  by: ender,
  pick,
  run,
  /** Whether the run continues after the job's last step, whichever run took it. */
  takes_over: fc.boolean(),
  terms: fc.record<Body>({
    reserve: maybe(cost),
    spent: maybe(fc.nat({ max: 20 })),
    ttl_seconds: fc.constantFrom(undefined, 60, 3_600),
  }),
});
/** A second run takes a job over, and the first one reports late. */
const takeover = does("take over", {
  by: fc.constantFrom("creator", "its key"),
  pick,
  late: fc.constantFrom("progress", "complete", "fail"),
});
const approval = does("approve", {
  by: token,
  /** Another token that tries the approval first. */
  other: maybe(token),
  app,
  credits: fc.integer({ min: 40, max: 90 }),
  decision: fc.constantFrom("approve", "approve", "deny", "raise", "nothing"),
  wait_ms: fc.constantFrom(0, 0, 0, APPROVAL_TTL_MS),
  less: fc.constantFrom(0, 10, -1),
});
const change = does("change", {
  token: fc.constantFrom("agent", "monthly", "root"),
  to: fc.constantFrom("caps", "other_caps"),
});
const wait = does("wait", {
  ms: fc.constantFrom(61_000, 61_000, DAY_MS, 7 * DAY_MS - 61_000, 11 * DAY_MS),
  alarm: fc.boolean(),
});
const command = fc.oneof(
  { weight: 8, arbitrary: creation },
  { weight: 5, arbitrary: completion },
  { weight: 3, arbitrary: does("fail", { by: ender, ...end, terms, key }) },
  { weight: 6, arbitrary: progress },
  { weight: 4, arbitrary: takeover },
  { weight: 4, arbitrary: approval },
  { weight: 5, arbitrary: does("repeat", { pick, same: fc.boolean() }) },
  { weight: 2, arbitrary: does("cancel", { by: ender, pick }) },
  {
    weight: 2,
    arbitrary: does("refund", { pick, amount: maybe(fc.integer({ min: 1, max: 20 })) }),
  },
  { weight: 2, arbitrary: change },
  { weight: 1, arbitrary: does("revoke", { token }) },
  { weight: 1, arbitrary: does("suspend", {}) },
  { weight: 2, arbitrary: does("restore", {}) },
  { weight: 1, arbitrary: does("sign in", { app }) },
  { weight: 3, arbitrary: wait },
);
type Command = typeof command extends fc.Arbitrary<infer One> ? One : never;
type CommandTo<Name extends Command["do"]> = Extract<Command, { do: Name }>;
type Step = { readonly command: Command; readonly evicts: boolean };
const step: fc.Arbitrary<Step> = fc.record({
  command,
  evicts: fc.constantFrom(true, false, false),
});

/** Rare at random: an approved job holds more within its approval, and is completed late. */
const LATE_WITHIN_APPROVAL: readonly Command[] = [
  {
    do: "approve",
    by: "leaf",
    other: undefined,
    app: "demo",
    credits: 60,
    decision: "approve",
    wait_ms: 0,
    less: 10,
  },
  {
    do: "progress",
    by: "creator",
    pick: 0,
    run: "one",
    takes_over: false,
    terms: { reserve: 55 },
  },
  { do: "wait", ms: DAY_MS, alarm: true },
  { do: "complete", by: "creator", jobs: { pick: 0, actual_cost: 60 }, key: null },
];

const drawing = (cost_estimate: number) =>
  ({ app: "demo", action: "draw", cost_estimate, ttl_seconds: 2_592_000 }) as const;
const creating = (jobs: Item | readonly Item[]): Command =>
  ({ do: "create", by: "holder", jobs, key: null }) as Command;
const completing = (jobs: Item | readonly Item[], key: "a" | null = null): Command =>
  ({ do: "complete", by: "creator", jobs, key }) as Command;
const failing = (pick: number, cost: number): Command => ({
  do: "fail",
  by: "creator",
  pick,
  run: undefined,
  later: 0,
  terms: { cost },
  key: null,
});

/** Each outcome that is rare at random: credits run out, ends of each kind, repetitions, and refused bounds. */
const RARE_OUTCOMES: readonly Command[] = [
  creating(Array.from({ length: 4 }, () => drawing(35))),
  creating(Array.from({ length: 4 }, () => drawing(35))),
  completing([0, 1].map((pick) => ({ pick, actual_cost: 30 }))),
  completing({ pick: 2, actual_cost: 30 }, "a"),
  { do: "repeat", pick: 0, same: true },
  { do: "repeat", pick: 0, same: false },
  completing({ pick: 2, actual_cost: 30 }),
  failing(3, 36),
  failing(3, 5),
  { do: "cancel", by: "holder", pick: 4 },
  { do: "refund", pick: 0, amount: 20 },
  { do: "refund", pick: 0, amount: 20 },
  creating({ ...drawing(10), app: "kept" }),
  completing({ pick: 0, actual_cost: 20 }),
  {
    do: "approve",
    by: "leaf",
    other: undefined,
    app: "demo",
    credits: 60,
    decision: "deny",
    wait_ms: 0,
    less: 0,
  },
  { do: "revoke", token: "leaf" },
  { do: "create", by: "leaf", jobs: drawing(1), key: null },
  { do: "suspend" },
  creating(drawing(1)),
];

const signInOlga = async (): Promise<Operator> =>
  operatorOnPages(await signIn(SETTINGS.OPERATORS), SETTINGS);

/** What makes the body of a request another one. */
const OTHER: Readonly<Record<string, Body>> = {
  "/api/jobs": { action: "paint", approval: undefined },
  "/api/jobs/complete": { actual_cost: 36 },
  "/api/jobs/fail": { reason: "other" },
  "/api/jobs/progress": { ttl_seconds: 61 },
  refund: { reason: "other" },
};

/** What must occur at least once in all histories, or they show nothing about it. */
const CASES = `repeated idempotency_key_reused suspended unauthorized account_unknown scope
  /api/jobs /api/jobs/batch /api/jobs/complete /api/jobs/complete/batch /api/jobs/fail
  /api/jobs/progress /api/jobs/cancel refund refund_limit token_budget_exceeded overage_limit
  insufficient_credits spent_limit approval_invalid approval_denied approval_ended step_too_old
  job_ended app_settles job_unknown job_not_found`.split(/\s+/);

type Servers = Readonly<Record<App, AppServer>>;

/** Sends the requests of one history, and compares each response and the whole account with the model. */
class Play {
  readonly #model = new Model();
  readonly #email: string;
  readonly #servers: Servers;
  readonly #seen: Set<string>;
  readonly #ids = new Map<string, string>();
  readonly #bearers = new Map<string, string>();
  readonly #connections = new Map<string, Tokens & { readonly client_id: string }>();
  readonly #sent: Request[] = [];
  #person!: SignedIn;
  #operator!: Operator;
  #signed_in_ms = 0;
  #refunds = 0;
  /** What the account showed last. */
  #shown = "";

  /** `seen`: gets the paths and the refusal codes that occur. */
  constructor(email: string, servers: Servers, seen: Set<string>) {
    this.#email = email;
    this.#servers = servers;
    this.#seen = seen;
  }

  /** Opens the account with all of its tokens. */
  async open(): Promise<string> {
    this.#operator = await signInOlga();
    await this.#signIn();
    await this.#wallet("demo");
    for (const [name, { parent, apps, caps }] of Object.entries(TOKENS)) {
      const parent_tokens = this.#connections.get(parent ?? "");
      if (parent_tokens !== undefined) {
        const { client_id, refresh_token } = parent_tokens;
        const limits = { ...(apps && { apps }), ...(caps.length > 0 && { caps }) };
        const tokens = await narrow(refresh_token, limits, { client_id });
        this.#connections.set(name, { ...tokens, client_id });
        this.#bearers.set(name, tokens.access_token);
      } else if (name === "root" || name === "free") {
        const client_id = `https://${name}.example.com/oauth.json`;
        const expires_at_ms = Date.now() + 90 * DAY_MS;
        const limits = { app_slugs: null, caps, expires_at_ms };
        const tokens = await connect(this.#person, { client_id, limits });
        this.#connections.set(name, { ...tokens, client_id });
        this.#bearers.set(name, tokens.access_token);
      } else {
        const { device_code, user_code } = await startLogin({}, SETTINGS);
        await approve(this.#person, user_code, { caps }, SETTINGS);
        this.#bearers.set(name, (await poll(device_code, SETTINGS)).body.token);
      }
      this.#ids.set(name, await tokenId(holderOf(this.#bearers.get(name) ?? "", SETTINGS)));
    }
    await this.#observe();
    return this.#person.identity_id;
  }

  async take({ command, evicts }: Step): Promise<void> {
    if (evicts) await evict(this.#person.identity_id);
    await this.#carryOut(command);
  }

  /** Restores the account, because the checks of its storage create jobs. */
  async close(): Promise<void> {
    await this.#suspend("restore");
  }

  async #carryOut(one: Command): Promise<unknown> {
    switch (one.do) {
      case "create":
        return this.#send(this.#requestOf(one, "/api/jobs", one.jobs));
      case "complete":
        return this.#send(this.#requestOf(one, "/api/jobs/complete", one.jobs));
      case "fail": {
        const { pick, run, later, terms } = one;
        return this.#send(this.#requestOf(one, "/api/jobs/fail", { pick, run, later, ...terms }));
      }
      case "progress": {
        const job = this.#model.jobs.at(-1 - one.pick);
        const last = one.takes_over ? job?.step : job?.steps[one.run];
        const job_id = job?.id ?? UNKNOWN;
        const body = { job_id, step: (last ?? 0) + 1, run: one.run, ...one.terms };
        return this.#send(this.#requestOf({ ...one, key: null }, "/api/jobs/progress", body));
      }
      case "take over":
        return this.#takeOver(one);
      case "cancel": {
        const by = TOKENS[one.by] === undefined ? "holder" : one.by;
        return this.#send(
          this.#requestOf({ by, key: null }, "/api/jobs/cancel", { pick: one.pick }),
        );
      }
      case "refund": {
        const { pick, amount } = one;
        const key = `${this.#email}-${(this.#refunds += 1)}`;
        const charged = this.#model.jobs.filter(({ cost }) => cost > 0);
        const job_id = (charged.at(-1 - pick) ?? this.#model.jobs.at(-1 - pick))?.id ?? UNKNOWN;
        const body = { job_id, amount, reason: "why" };
        return this.#send({ by: "operator", path: "refund", body, key });
      }
      case "repeat":
        return this.#repeat(one);
      case "approve":
        return this.#approve(one);
      case "change":
        return this.#change(one.token, TOKENS[one.token]?.[one.to] ?? []);
      case "revoke":
        return this.#revoke(one.token);
      case "suspend":
      case "restore":
        return this.#suspend(one.do);
      case "sign in":
        if (this.#model.is_suspended) return;
        await this.#signIn();
        await this.#wallet(one.app);
        return this.#observe();
      case "wait":
        return this.#wait(one.ms, one.alarm);
    }
  }

  async #takeOver({ by, pick, late }: CommandTo<"take over">): Promise<void> {
    const progress = { do: "progress" as const, by, pick, takes_over: true, terms: {} };
    await this.#carryOut({ ...progress, run: "one" });
    await this.#carryOut({ ...progress, run: "two" });
    const end = { by, pick, run: "one", later: 0 } as const;
    if (late === "progress") {
      await this.#carryOut({ ...progress, run: "one", takes_over: false });
    } else if (late === "fail") {
      await this.#carryOut({ do: late, ...end, terms: {}, key: null });
    } else {
      await this.#carryOut({ do: late, by, jobs: { ...end, actual_cost: 3 }, key: null });
    }
  }

  /** The request of a caller; several items are one batch. */
  #requestOf(
    { by, key }: Pick<Request, "by" | "key">,
    path: string,
    items: Item | readonly Item[],
  ): Request {
    const is_batch = Array.isArray(items);
    const jobs = [items].flat().map((item) => this.#bodyOf(item));
    const [body = {}] = jobs;
    const job = this.#model.jobs.find(({ id }) => id === body.job_id);
    const callers = new Map([
      ["creator", job?.by ?? "holder"],
      ["its key", keyOf(job?.app ?? body.app ?? "demo")],
    ]);
    const request = is_batch ? { path: `${path}/batch`, body: { jobs } } : { path, body };
    return { by: callers.get(by) ?? by, key, ...request };
  }

  #bodyOf({ pick, run, later = 0, ...body }: Item): Body {
    if (pick === undefined) return { ...body, run };
    const job = this.#model.jobs.at(-1 - pick);
    const step = run === undefined ? undefined : (job?.steps[run] ?? 0) + later;
    return { job_id: job?.id ?? UNKNOWN, ...body, step };
  }

  /** Sends a request. Unless the model changes, it was refused or is a repetition, and changes nothing. */
  async #send(request: Request): Promise<Answer> {
    const before = this.#shown;
    const answer = await this.#post(request);
    const is_change = this.#expectResponse(request, answer);
    await this.#observe();
    if (!is_change) expect(this.#shown).toBe(before);
    return answer;
  }

  /** Expects the model's response: the first one again, a refusal, or a change. Returns whether it is a change. */
  #expectResponse(request: Request, { status, headers, body, text }: Answer): boolean {
    const { by, path } = request;
    const is_replayed = headers.get("Idempotency-Replayed") === "true";
    // The access token of an ended connection may have expired, too.
    const code = status === 401 ? "unauthorized" : body.code;
    const barred = this.#model.whyBarred(by, path);
    const first = barred === null ? this.#model.first(request) : null;
    if (barred !== null || first !== null) {
      const is_same = first?.body === bodyText(request);
      const refusal = barred ?? (is_same ? undefined : "idempotency_key_reused");
      const shown = { request, code, is_replayed };
      expect(shown).toEqual({ request, code: refusal, is_replayed: is_same });
      if (is_same && first.by === by) expect(text).toBe(first.text);
      this.#seen.add(refusal ?? "repeated");
      return false;
    }
    const outcomes = this.#model.apply(request);
    const is_unknown = outcomes.every((it) => it === "account_unknown");
    const results = path.endsWith("/batch") && !is_unknown ? body.results : [body];
    for (const [index, outcome] of outcomes.entries()) {
      const result = results[is_unknown ? 0 : index];
      const refusal = typeof outcome === "string" ? outcome : undefined;
      expect({ request, code: result.code, is_replayed }).toEqual({
        request,
        code: refusal,
        is_replayed: false,
      });
      this.#seen.add(refusal ?? path);
      if (typeof outcome === "string") continue;
      if (outcome.id === "") outcome.id = result.job_id;
      else expect(result.job).toMatchObject(this.#shownTo(by, outcome));
    }
    if (outcomes.every((it) => typeof it === "string")) return false;
    expect(body.credits).toBe(this.#model.seesCredits(by) ? this.#model.credits : null);
    this.#model.keep(request, text);
    this.#sent.push(request);
    return true;
  }

  #post({ by, path, body, key }: Request): Promise<Answer> {
    const headers: Record<string, string> = key === null ? {} : { "Idempotency-Key": key };
    const { identity_id, token } = this.#person;
    if (by === "operator") {
      const { job_id, ...rest } = body;
      const refund = `/api/admin/accounts/${identity_id}/jobs/${job_id}/refund`;
      return this.#operator.send("POST", refund, rest, headers);
    }
    const slug = (Object.keys(APPS) as App[]).find((one) => keyOf(one) === by);
    if (slug !== undefined) return this.#servers[slug].in(identity_id).post(path, body, headers);
    const bearer = by === "holder" ? token : (this.#bearers.get(by) ?? "");
    return holderOf(bearer, SETTINGS).post(path, body, headers);
  }

  #allShownTo(viewer: string): readonly object[] {
    return this.#model.jobs.map((job) => this.#shownTo(viewer, job)).toReversed();
  }

  #shownTo(viewer: string, job: Job): object {
    return { ...shownJob(job), by: this.#startedBy(viewer, job) };
  }

  /** What started a job, whatever settled it. `viewer`: only an operator and a token itself learn the names of tokens. */
  #startedBy(viewer: string, { by }: Job): object {
    const app = appOfKey(by);
    if (app !== null) return { kind: "app", id: app, name: "An app" };
    const path = pathOf(by);
    // The holder's session of these histories is of a page of no registered app.
    if (path.length === 0) return { kind: "browser", id: null, name: null };
    const id = this.#ids.get(by);
    const root = path.at(-1) ?? by;
    if (!this.#connections.has(root)) {
      const name = viewer === "operator" || viewer === by ? "A device" : null;
      return { kind: "token", id, name };
    }
    const of_root = path.length > 1 ? { root_id: this.#ids.get(root) } : {};
    return { kind: "connection", id, ...of_root, name: "A client" };
  }

  async #repeat({ pick, same }: CommandTo<"repeat">): Promise<void> {
    const request = this.#sent.at(-1 - pick);
    if (request === undefined) return;
    // The audit log knows an operator's key for longer than the account.
    if (request.by === "operator" && this.#model.first(request) === null) return;
    const { body, path } = request;
    const other = body.jobs ? { jobs: [...body.jobs, ...body.jobs] } : OTHER[path];
    await this.#send(same ? request : { ...request, body: { ...body, ...other } });
  }

  /** A job beyond a cap: the holder approves it, denies it, raises the cap, or does nothing. */
  async #approve(one: CommandTo<"approve">): Promise<void> {
    const { by, app, credits, decision, wait_ms } = one;
    const body = { app, action: "film", cost_estimate: credits, ttl_seconds: 3_600 };
    const request = { by, path: "/api/jobs", body, key: null };
    const asked = await this.#send(request);
    if (asked.body.code !== "token_budget_exceeded") return;
    expect(asked.body).toMatchObject({ required: credits, room: this.#model.room(by) });
    const { approval, approval_url } = asked.body;
    const expires_at_ms = Date.now() + APPROVAL_TTL_MS;
    this.#model.approvals.set(approval, { by, job: body, expires_at_ms, state: "open" });
    if (decision === "approve" || decision === "deny") {
      const path = `${new URL(approval_url).pathname}/${decision}`;
      expect((await postForm(this.#person, path, {})).status).toBe(303);
      this.#model.decide(approval, decision === "deny" ? "denied" : "approved");
    }
    if (decision === "raise") await this.#change(by, [{ credits: 150, period: "total" }]);
    if (wait_ms > 0) await this.#wait(wait_ms, false);
    const approved = { ...body, cost_estimate: credits - one.less, approval };
    for (const by of [one.other ?? one.by, one.by, one.by]) {
      await this.#send({ ...request, by, body: approved });
    }
  }

  async #change(name: string, caps: readonly SpendingCap[]): Promise<void> {
    const path = `/api/tokens/${this.#ids.get(name)}`;
    const headers = { ...fromOwnPage(this.#person), "Content-Type": "application/json" };
    const answer = await send("PATCH", path, { headers, body: JSON.stringify({ caps }) }, SETTINGS);
    const barred = this.#model.whyBarred("holder", path);
    const refusal = barred ?? (this.#model.hasEnded(name) ? "personal_token_not_found" : undefined);
    expect({ name, code: answer.body.code }).toEqual({ name, code: refusal });
    if (refusal === undefined) this.#model.change(name, caps);
    await this.#observe();
  }

  async #revoke(name: string): Promise<void> {
    const path = `/api/tokens/${this.#ids.get(name)}`;
    const headers = { Authorization: `Bearer ${this.#person.token}` };
    const { status } = await send("DELETE", path, { headers }, SETTINGS);
    if (this.#model.is_suspended) return expect(status).toBe(403);
    // The row of an unused token is gone with its parent.
    expect(status).toBeOneOf(this.#model.hasEnded(name) ? [200, 404] : [200]);
    this.#model.revoke(name);
    await this.#observe();
  }

  async #suspend(act: "suspend" | "restore"): Promise<void> {
    const path = `/api/admin/accounts/${this.#person.identity_id}/${act}`;
    expect((await this.#operator.send("POST", path, { reason: "why" })).status).toBe(200);
    this.#model.is_suspended = act === "suspend";
    await this.#observe();
  }

  /** Fires the alarm, which alone expires jobs here, and expects that operators' lists show what it did. */
  async #fireAlarm(): Promise<void> {
    const { identity_id } = this.#person;
    await fireAlarm(identity_id);
    const found = await this.#operator.get(`/api/admin/jobs?identity_id=${identity_id}&limit=200`);
    // A step that changes no money is in the lists only with the job's next entry.
    const listed = this.#allShownTo("operator").map((job) => ({
      ...job,
      step: expect.any(Number),
    }));
    expect(found.body.jobs).toMatchObject(listed);
  }

  async #wait(ms: number, alarm: boolean): Promise<void> {
    const wait_ms = Date.now() + ms > LAST_MS ? 61_000 : ms;
    const is_stale = Date.now() + wait_ms - this.#signed_in_ms > FRESH_MS;
    if (is_stale && this.#model.is_suspended) await this.#suspend("restore");
    vi.setSystemTime(Date.now() + wait_ms);
    this.#model.passTime();
    if (is_stale) this.#operator = await signInOlga();
    if (alarm) await this.#fireAlarm();
    if (is_stale) await this.#signIn();
    await this.#observe();
  }

  /** Signs in again, and renews the tokens of the connections. */
  async #signIn(): Promise<void> {
    this.#signed_in_ms = Date.now();
    this.#person = await signIn(this.#email);
    for (const [name, { client_id, refresh_token }] of this.#connections) {
      if (this.#model.hasEnded(name)) continue;
      const { body } = await refresh(refresh_token, { client_id });
      this.#connections.set(name, { ...body, client_id });
      this.#bearers.set(name, body.access_token);
    }
  }

  async #wallet(app: App): Promise<void> {
    const path = `/api/wallet?app=${app}`;
    const { body } = await holderOf(this.#person.token, SETTINGS).get(path);
    expect(body.app_grant.granted).toBe(this.#model.grant(app));
  }

  /** Expects that the operator, the holder and a token see what the model says, and that the ledger adds up. */
  async #observe(): Promise<void> {
    const model = this.#model;
    const path = `/api/admin/accounts/${this.#person.identity_id}`;
    const { account, held, personal_tokens } = (await this.#operator.get(path)).body;
    const holder = holderOf(this.#person.token, SETTINGS);
    const read = (list: string): Promise<Answer> =>
      model.is_suspended ? this.#operator.get(`${path}/${list}`) : holder.get(`/api/${list}`);
    const { jobs } = (await read("jobs?limit=200")).body;
    const { entries, next_cursor } = (await read("ledger?limit=200")).body;
    const spending = new Map<string, object[]>(
      personal_tokens.map(({ id, caps }: { id: string; caps: object[] }) => [id, caps]),
    );
    expect([account.credits, held]).toEqual([model.credits, model.held]);
    const viewer = model.is_suspended ? "operator" : "holder";
    expect(jobs).toMatchObject(this.#allShownTo(viewer));
    const starters = new Map(model.jobs.map((job) => [job.id, this.#startedBy(viewer, job)]));
    for (const { job_id, by } of entries) expect(by).toEqual(starters.get(job_id) ?? null);
    const spent = Object.entries(model.spending);
    expect(spending.size).toBe(spent.length);
    for (const [name, caps] of spent) {
      expect({ name, caps: spending.get(this.#ids.get(name) ?? "") }).toMatchObject({ name, caps });
    }
    expect(next_cursor).toBeUndefined();
    let balance = 0;
    for (const { amount, balance_after } of entries.toReversed()) {
      balance += amount;
      expect(balance_after).toBe(balance);
    }
    expect(balance).toBe(account.credits);
    this.#shown = JSON.stringify([account, jobs, entries, [...spending]]);
    if (model.is_suspended) return;
    // Another token each time.
    const [name = ""] = spent[entries.length % Math.max(1, spent.length)] ?? [];
    const bearer = this.#bearers.get(name) ?? this.#person.token;
    const wallet = (await holderOf(bearer, SETTINGS).get("/api/wallet")).body;
    const shown = { name, credits: wallet.account.credits, room: wallet.room };
    expect(shown).toEqual({ name, credits: model.credits, room: model.room(name) });
  }
}

describe("any history of an account over HTTP", () => {
  it(
    "any history of requests, evictions and alarms keeps the account equal to a recount of its jobs",
    { tags: ["history"], timeout: 600_000 },
    async () => {
      for (const level of ["log", "warn"] as const) vi.spyOn(console, level).mockReturnValue();
      vi.useFakeTimers({ toFake: ["Date"], now: BEGIN_MS });
      const operator = await signInOlga();
      const servers: Partial<Record<App, AppServer>> = {};
      for (const [slug, policy] of Object.entries(APPS)) {
        servers[slug as App] = await openAppServer(slug, policy, operator);
      }
      const seen = new Set<string>();
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 10, maxLength: 50, size: "max" }),
          async (steps) => {
            vi.setSystemTime(BEGIN_MS);
            const play = new Play(`holder-${(runs += 1)}@example.com`, servers as Servers, seen);
            const identity_id = await play.open();
            for (const one of steps) await play.take(one);
            await play.close();
            await expectInvariants(identity_id);
          },
        ),
        {
          numRuns: histories(48),
          endOnFailure: true,
          examples: [LATE_WITHIN_APPROVAL, RARE_OUTCOMES].map((commands) => [
            commands.map((command) => ({ command, evicts: true })),
          ]),
        },
      );
      // A short run may not reach every case.
      if (IS_SLOW_CHECK) expect(CASES.filter((one) => !seen.has(one))).toEqual([]);
    },
  );
});
