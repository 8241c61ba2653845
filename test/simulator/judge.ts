/** The rules for what an account answers to its callers: each call is judged when what it wrote is stored. */
import type {
  Answer,
  Caller,
  IdempotencyGuard,
  Once,
  SettledJob,
} from "../../src/account/contract.ts";
import type { JobRow } from "../../src/account/sql/schema.ts";
import { PlatformError } from "./platform/kernel.ts";
import type { Ended } from "./platform/objects.ts";
import type { Stored } from "./platform/storage.ts";
import { Books, idsOf, MARGIN_MS, type JobBook } from "./books.ts";
import { TopUpBook } from "./top_up_book.ts";
import { must } from "./violation.ts";
import { isNewerData } from "./world.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

interface FirstAnswer {
  readonly fingerprint: string;
  readonly value_json: string;
  readonly at_ms: number;
}

/** Operations that take a key, and where their guard is among the inputs. */
const KEYED: Readonly<Record<string, number>> = {
  createJob: 2,
  createJobs: 2,
  completeJob: 2,
  completeJobs: 2,
  failJob: 2,
  adjustCredits: 1,
  refundJob: 1,
  changePlan: 1,
};

/** Refusals that say that the caller may not act, whatever it did before. */
const NOT_ADMITTED = ["unauthorized", "suspended", "app_stopped", "account_unknown", "scope"];
/** Operations that start something, which a stopped app and a suspended holder may not do. */
const WRITING = ["createJob", "createJobs"];
const SETTLING = ["completeJob", "failJob", "reportProgress"];

export class Judge {
  readonly books: Books;
  readonly #first = new Map<string, FirstAnswer>();
  readonly #steps = new Map<string, string>();
  /** The run that took each step of each job. */
  readonly #runs = new Map<string, string | undefined>();
  /** A newer build has changed the data, so this build must not run on it. */
  is_newer_data = false;

  readonly top_ups = new TopUpBook();
  #has_top_up = false;
  readonly #drops_alarms: boolean;
  readonly #switchedOn: () => void;

  /**
   * `drops_alarms`: whether the platform loses alarms in this run, so that nobody can rely on one. `switchedOn`: the holder
   * switched automatic top-up on.
   */
  constructor(identity_id: string, drops_alarms: boolean, switchedOn: () => void) {
    this.books = new Books(identity_id);
    this.#drops_alarms = drops_alarms;
    this.#switchedOn = switchedOn;
  }

  /** A turn of the account was stored. */
  committed(object: Stored, ended: readonly Ended[]): void {
    const { books } = this;
    const line_before = books.line;
    const balances = [books.balance];
    const known = new Map(ended.map((it) => [it, this.#jobBefore(it)]));
    const begun = books.absorb(object);
    must(!this.is_newer_data || books.line === line_before, "an older build changes no newer data");
    for (const job of begun) this.#mayBegin(job, object);
    this.#willExpire(object, ended);
    balances.push(...books.entries.slice(line_before).map(({ balance_after }) => balance_after));
    for (const it of ended) this.#judge(it, known.get(it) ?? null, object);
    if (this.#has_top_up) this.top_ups.absorb(object.sqlite, balances, books.is_suspended);
  }

  /** The job that a call names, as it was before the call. */
  #jobBefore({ call }: Ended): JobRow | null {
    const request = call.input.find(
      (it) => typeof it === "object" && it !== null && "job_id" in it,
    );
    const { job_id = "" } = (request ?? {}) as { readonly job_id?: string };
    return this.books.jobs.get(job_id)?.row ?? null;
  }

  #mayBegin({ row }: JobBook, { alarm_ms }: Stored): void {
    const is_armed = alarm_ms !== null && alarm_ms <= row.expires_at_ms;
    must(
      is_armed || this.#drops_alarms || row.status !== "started",
      "an alarm ends each job in time",
      {
        alarm_ms,
        row,
      },
    );
    const { stopped, is_suspended } = this.books;
    const by_holder = row.started_by_json === null;
    must(by_holder || !stopped.has(row.app_slug ?? ""), "a stopped app starts nothing", row);
    must(!is_suspended, "a suspended account starts nothing", row);
  }

  /** An alarm comes in time for a new lot, except for one of a plan, whose account may sleep. */
  #willExpire({ alarm_ms }: Stored, ended: readonly Ended[]): void {
    const { credits } = this.books;
    if (this.#drops_alarms || ended.some(({ call }) => call.method === "alarm")) return;
    for (const lot of credits.news) {
      const { expires_at_ms } = lot;
      if (lot.left === 0 || expires_at_ms === null || credits.isOfRule(lot)) continue;
      const is_armed = alarm_ms !== null && alarm_ms <= expires_at_ms;
      must(is_armed, "an alarm ends each lot in time", { alarm_ms, lot });
    }
  }

  #judge({ call, outcome }: Ended, before: JobRow | null, object: Stored): void {
    const { method, input, machine_ms } = call;
    if (!outcome.ok) {
      const is_expected = outcome.error instanceof PlatformError || isNewerData(outcome.error);
      return must(is_expected, "an account fails only if the platform does", {
        method,
        error: String(outcome.error.stack),
      });
    }
    must(
      !this.is_newer_data || method === "alarm",
      "an older build answers nothing from newer data",
      method,
    );
    const answer = outcome.value as Answer<unknown> | null | undefined;
    if (answer === null || typeof answer !== "object" || !("ok" in answer)) return;
    const caller = callerOf(input[0]);
    this.#noneOverdue(answer, machine_ms, object);
    if (answer.ok && caller !== null) this.#mayAct(caller, method, input, machine_ms);
    const is_replayed = this.#isReplay(method, caller, input, answer, machine_ms);
    if (!answer.ok) return;
    this.#learn(method, input, answer.value, machine_ms);
    if (is_replayed || caller === null) return;
    if (method === "createJob") this.#mayReserve(caller, input[1], answer.value, machine_ms);
    if (SETTLING.includes(method) && before !== null) {
      this.#maySettle(caller, method, input[1], before, machine_ms);
    }
  }

  /** Every accepted call first ends what is overdue, and what lost its right to go on. */
  #noneOverdue(answer: Answer<unknown>, machine_ms: number, object: Stored): void {
    const { books } = this;
    // More than a portion are ended by several transactions.
    if (books.started.size > 150) return;
    const refusal = answer.ok ? null : answer.refusal.code;
    if (refusal === "unauthorized" && books.line === 0) return;
    const overdue = answer.ok ? books.credits.overdue(machine_ms) : null;
    must(overdue === null, "credits whose time is over expire before anything else happens", {
      overdue,
      machine_ms,
    });
    for (const { row } of books.started.values()) {
      must(row.expires_at_ms > machine_ms, "an overdue job ends before anything else happens", {
        row,
        machine_ms,
        object: object.name,
      });
      if (!answer.ok) continue;
      for (const id of idsOf(row.allowance_path)) {
        must(books.tokens.get(id)?.is_revoked !== true, "jobs of a revoked token end with it", row);
      }
    }
  }

  #mayAct(caller: Caller, method: string, input: readonly unknown[], machine_ms: number): void {
    const { books } = this;
    if (caller.kind === "allowance") {
      const { credential } = caller;
      must(credential.kind === "allowance", "the simulation uses personal tokens only");
      const ended = books.whyEnded(credential.allowance_id, machine_ms);
      must(ended === null, "a token that has ended is not accepted", { method, caller, ended });
      const token = books.tokens.get(credential.allowance_id);
      const { app_slug } = (input[1] ?? {}) as { readonly app_slug?: string };
      if (method === "createJob" && token !== undefined) {
        must(token.writes, "a token that may only read starts nothing", token);
        const apps = token.path.map((id) => books.tokens.get(id)?.app_slugs ?? null);
        const allowed = apps.every((slugs) => slugs === null || slugs.includes(app_slug ?? ""));
        must(allowed, "a token acts only for its apps", { token, app_slug });
      }
    }
    if (books.is_suspended && caller.kind !== "operator" && caller.kind !== "service") {
      const settles = caller.kind === "app" && !WRITING.includes(method);
      must(settles, "a suspended account lets nobody in", { caller, method });
    }
    if (caller.kind === "app" && method === "createJob") {
      const { app_slug } = input[1] as { readonly app_slug: string };
      must(app_slug === caller.app_slug, "an app's key acts for its own app", { caller, app_slug });
    }
  }

  /** @returns whether the answer is the one of an earlier request. */
  #isReplay(
    method: string,
    caller: Caller | null,
    input: readonly unknown[],
    answer: Answer<unknown>,
    machine_ms: number,
  ): boolean {
    if (method === "reportProgress") return this.#isStepReplay(input[1], answer);
    const guard = (input[KEYED[method] ?? -1] ?? null) as IdempotencyGuard | null;
    if (guard === null) return false;
    const key = [method, ownerOf(caller), jobOf(method, input), guard.key].join(" ");
    const first = this.#first.get(key);
    // Times of entries count, which never go back.
    const at_ms = Math.max(machine_ms, this.books.newest_at_ms);
    const age_ms = first === undefined ? Infinity : at_ms - first.at_ms;
    const details = { method, input, answer, first };
    if (!answer.ok) {
      if (first === undefined || age_ms > DAY_MS - MARGIN_MS) return false;
      const { code } = answer.refusal;
      const wanted =
        first.fingerprint === guard.fingerprint ? NOT_ADMITTED : [...NOT_ADMITTED, REUSED];
      must(wanted.includes(code), "a repeated request gets the first response", details);
      return false;
    }
    const { value, replayed } = answer.value as Once<unknown>;
    if (replayed) {
      must(first !== undefined, "only a request that was made before is repeated", details);
      must(first.fingerprint === guard.fingerprint, "a key is for one request", details);
      const is_same = isSameAnswer(first.value_json, comparable(value));
      must(is_same, "a repeated request gets the first response", details);
      return true;
    }
    must(age_ms > DAY_MS - MARGIN_MS, "a request with a key happens once", details);
    const { results } = value as { readonly results?: readonly Answer<unknown>[] };
    if (results !== undefined && !results.some(({ ok }) => ok)) return false;
    const { fingerprint } = guard;
    this.#first.set(key, { fingerprint, value_json: comparable(value), at_ms });
    return false;
  }

  #isStepReplay(request: unknown, answer: Answer<unknown>): boolean {
    const { job_id, step, run } = request as { job_id: string; step: number; run?: string };
    const taken = `${job_id} ${step}`;
    if (!answer.ok) {
      const is_own = answer.refusal.code !== REUSED || this.#runs.get(taken) === run;
      must(is_own, "a run hears that another took its step", { request, answer });
      return false;
    }
    const { value, replayed } = answer.value as Once<SettledJob>;
    const key = [job_id, step, run].join(" ");
    const first = this.#steps.get(key);
    if (replayed) {
      const is_same = first !== undefined && isSameAnswer(first, comparable(value));
      must(is_same, "a repeated step gets its first response", {
        request,
        first,
        value,
      });
      return true;
    }
    must(first === undefined, "a run takes a step once", request);
    this.#steps.set(key, comparable(value));
    this.#runs.set(taken, run);
    return false;
  }

  /** What the account promised with this answer. */
  #learn(method: string, input: readonly unknown[], value: unknown, machine_ms: number): void {
    const { books } = this;
    const request = input[1] as never;
    switch (method) {
      case "issueAllowance":
        return this.#issue(request, null);
      case "exchange":
        return this.#exchanged(input, value);
      case "revokeAllowance":
        return this.#revoke((request as { readonly id: string }).id);
      case "changeAllowance": {
        const { id, caps } = request as {
          id: string;
          caps: readonly { credits: number; period: string }[];
        };
        const token = books.tokens.get(id);
        const total = caps.find(({ period }) => period === "total");
        if (token !== undefined) token.total_cap = total?.credits ?? null;
        return;
      }
      case "endSessions": {
        const ids = input[0] as readonly string[] | "all";
        for (const { id, ends_with_session, session_id } of books.tokens.values()) {
          if (ends_with_session && (ids === "all" || ids.includes(session_id))) this.#revoke(id);
        }
        return;
      }
      case "stopApp":
        return void books.stopped.add((request as { readonly slug: string }).slug);
      case "allowApp":
        return void books.stopped.delete(request);
      case "finishTopUpSetup":
      case "changeTopUp":
        this.#has_top_up = true;
        return this.#switchedOn();
      case "suspend":
        books.is_suspended = true;
        return;
      case "restore":
        books.is_suspended = false;
        return;
      default:
        return void machine_ms;
    }
  }

  #revoke(id: string): void {
    const token = this.books.tokens.get(id);
    if (token !== undefined) token.is_revoked = true;
  }

  #issue(request: Issued, parent_id: string | null): void {
    const parent = parent_id === null ? undefined : this.books.tokens.get(parent_id);
    const { id, limits, expires_at_ms, session_id, ends_with_session } = request;
    this.books.tokens.set(id, {
      id,
      path: [id, ...(parent?.path ?? [])],
      expires_at_ms,
      session_id,
      ends_with_session,
      writes: limits.access === "write",
      app_slugs: limits.app_slugs,
      total_cap: limits.caps.find(({ period }) => period === "total")?.credits ?? null,
      has_caps: limits.caps.length > 0 || parent?.has_caps === true,
      is_revoked: false,
    });
  }

  #exchanged(input: readonly unknown[], value: unknown): void {
    const { kind, allowance_id: id, expires_at_ms } = value as ExchangedChild;
    if (kind !== "child") return;
    const caller = input[0] as { readonly credential: { readonly allowance_id: string } };
    const parent_id = caller.credential.allowance_id;
    const parent = this.books.tokens.get(parent_id);
    const { caps = [], app_slugs } = input[1] as {
      caps?: Issued["limits"]["caps"];
      app_slugs?: string[];
    };
    must(
      parent !== undefined && expires_at_ms <= parent.expires_at_ms,
      "a child ends with its parent",
      value,
    );
    const limits = { access: parent.writes ? "write" : "read", app_slugs: app_slugs ?? null, caps };
    const { session_id, ends_with_session } = parent;
    this.#issue({ id, limits, expires_at_ms, session_id, ends_with_session }, parent_id);
  }

  #mayReserve(caller: Caller, request: unknown, value: unknown, machine_ms: number): void {
    if (caller.kind !== "allowance") return;
    const { cost_estimate, approval } = request as { cost_estimate: number; approval?: string };
    const job = this.books.jobs.get((value as Once<{ readonly job_id: string }>).value.job_id);
    must(job !== undefined, "a created job exists", value);
    if (cost_estimate > 0 && (approval === undefined || job.row.approved === 0)) {
      this.#withinCaps(job.row, machine_ms);
    }
  }

  /** No total cap of the job's token and of its ancestors is exceeded. */
  #withinCaps({ allowance_path }: JobRow, machine_ms: number): void {
    for (const id of idsOf(allowance_path)) {
      const cap = this.books.tokens.get(id)?.total_cap ?? null;
      if (cap === null) continue;
      const used = this.books.usageOf(id, machine_ms);
      must(used <= cap, "no cap of a token or of its ancestors is exceeded", {
        id,
        cap,
        used,
        allowance_path,
      });
    }
  }

  #maySettle(
    caller: Caller,
    method: string,
    request: unknown,
    before: JobRow,
    machine_ms: number,
  ): void {
    const { books } = this;
    const { step, ttl_seconds = null } = request as {
      readonly step?: number;
      readonly ttl_seconds?: number | null;
    };
    const after = books.jobs.get(before.id)?.row;
    must(after !== undefined, "a job stays");
    const details = { caller, request, before };
    if (method === "reportProgress" && ttl_seconds !== null && after.status === "started") {
      const is_prolonged = after.expires_at_ms >= machine_ms + ttl_seconds * 1_000;
      must(is_prolonged, "a step that gives a job more time gives it", { ...details, after });
    }
    if (method === "reportProgress") must((step ?? 0) > before.step, "steps grow", details);
    else
      must(
        step === undefined || step >= before.step,
        "a run that lost its job ends it no more",
        details,
      );
    const is_app = caller.kind === "app";
    must(!is_app || caller.app_slug === before.app_slug, "an app settles its own jobs", details);
    must(
      is_app || before.settle !== "app",
      "only the app settles the jobs of an app that does",
      details,
    );
    if (method === "completeJob" && before.max_overage_percent !== null) {
      const limit = Math.floor((before.cost_estimate * (100 + before.max_overage_percent)) / 100);
      must(after.actual_cost <= limit, "a job costs no more than its app's policy allows", details);
    }
    if (method === "failJob") {
      must(
        after.actual_cost <= before.reserved,
        "a failed job costs no more than its reserve",
        details,
      );
    }
    const token = caller.kind === "allowance" ? tokenOf(books, caller) : undefined;
    if (token?.has_caps === true) {
      const is_own = idsOf(before.allowance_path).includes(token.id);
      must(is_own, "a capped token settles only its own jobs", details);
    }
    // An expired job of an app that settles its own keeps its room in the caps for a while.
    const holds = before.status === "started" || before.claimed_until_ms !== null;
    const held = holds ? before.reserved : before.actual_cost;
    const taken = after.status === "started" ? after.reserved : after.actual_cost;
    const is_bound = is_app || token?.has_caps === true;
    if (is_bound && taken > held && after.approved === 0) this.#withinCaps(after, machine_ms);
  }
}

const REUSED = "idempotency_key_reused";

interface Issued {
  readonly id: string;
  readonly expires_at_ms: number;
  readonly session_id: string;
  readonly ends_with_session: boolean;
  readonly limits: {
    readonly access: string;
    readonly app_slugs: readonly string[] | null;
    readonly caps: readonly { readonly credits: number; readonly period: string }[];
  };
}

interface ExchangedChild {
  readonly kind: string;
  readonly allowance_id: string;
  readonly expires_at_ms: number;
}

function tokenOf(books: Books, { credential }: Extract<Caller, { kind: "allowance" }>) {
  return credential.kind === "allowance" ? books.tokens.get(credential.allowance_id) : undefined;
}

function callerOf(first: unknown): Caller | null {
  const { kind } = Object(first) as { readonly kind?: unknown };
  return typeof kind === "string" && CALLERS.includes(kind) ? (first as Caller) : null;
}

const CALLERS = ["holder", "page", "allowance", "app", "operator", "service"];

function ownerOf(caller: Caller | null): string {
  switch (caller?.kind) {
    case "holder":
    case "page":
      return "holder";
    case "allowance":
      return caller.credential.kind === "allowance" ? caller.credential.allowance_id : "";
    case "app":
      return caller.app_slug;
    case "operator":
    case "service":
    case undefined:
      return "service";
  }
}

/** The key of a request that ends a job is the job's own. */
function jobOf(method: string, input: readonly unknown[]): string {
  if (method !== "completeJob" && method !== "failJob") return "";
  return (input[1] as { readonly job_id: string }).job_id;
}

/** What a response shows: an app that may not have the balance now gets the same response without it. */
function comparable(value: unknown): string {
  return JSON.stringify(value, (key, it: unknown) => (NOT_SHOWN.has(key) ? undefined : it));
}

/** A caller that repeats a request may see less of it: an app does not see where a job's credits came from. */
function isSameAnswer(first: string, again: string): boolean {
  const sees_less = [first, again].some((text) => text.includes('"from_json":"null"'));
  return sees_less ? withoutFrom(first) === withoutFrom(again) : first === again;
}

const withoutFrom = (text: string): string =>
  text.replaceAll(/"from_json":(?:null|"(?:[^"\\]|\\.)*"),/g, "");

const NOT_SHOWN = new Set([
  "credits",
  "takings_json",
  "claimed_until_ms",
  "started_by_json",
  "progress_json",
  "idempotency_caller",
  "idempotency_key",
  "idempotency_fingerprint",
]);
