/** Random histories of requests with idempotency keys, compared with a map from each key to its first response. */
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { DAY_MS } from "../../../../src/domain/calendar.ts";
import { CLOCK_SKEW_MS } from "../../../../src/domain/limits.ts";
import { dump, evict, query, repeatAlarm } from "../../support/account_object.ts";
import { signInWithCredits, type Answer, type SignedIn } from "../../support/passbook.ts";
import { expectDeletion, expectInvariants } from "../invariants.ts";
import { IS_SLOW_CHECK, histories } from "../../support/histories.ts";

const PATHS = {
  create: "/api/jobs",
  complete: "/api/jobs/complete",
  fail: "/api/jobs/fail",
  batch: "/api/jobs/batch",
} as const;

type Write = {
  readonly do: keyof typeof PATHS;
  /** Null sends the request without a key. */
  readonly key: string | null;
  /** The job to end, as an index counted from the newest. */
  readonly job: number;
  readonly cost: number;
};

type Step =
  | Write
  | { readonly do: "alarm" }
  | { readonly do: "repeat"; readonly pick: number; readonly same: boolean }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "evict" }
  | { readonly do: "break"; readonly write: Write };

const write: fc.Arbitrary<Write> = fc.record({
  do: fc.constantFrom("create", "create", "complete", "complete", "fail", "batch"),
  key: fc.constantFrom("a", "b", "c", "d", null),
  job: fc.nat({ max: 3 }),
  cost: fc.nat({ max: 1 }),
});
const HOUR_MS = 60 * 60 * 1000;
const waits = [1_000, HOUR_MS, 6 * HOUR_MS, DAY_MS - 1, DAY_MS, -CLOCK_SKEW_MS, -2 * HOUR_MS];
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: write },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("alarm") }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("repeat"), pick: fc.nat(), same: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(...waits) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("evict") }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("break"), write }) },
);

/** Rare at random: the alarm deletes a key, whose request then counts as a first one. */
const DELETED_KEY: readonly Step[] = [
  { do: "create", key: "a", job: 0, cost: 0 },
  { do: "wait", ms: DAY_MS },
  { do: "wait", ms: DAY_MS },
  { do: "alarm" },
  { do: "create", key: "a", job: 0, cost: 1 },
  { do: "repeat", pick: 0, same: true },
];

interface FirstAnswer {
  readonly path: string;
  readonly key: string;
  readonly body: object;
  readonly text: string;
  readonly at_ms: number;
}

/** Counts of the interesting cases over all histories. A count of 0 means that the test checks nothing. */
interface Coverage {
  replays: number;
  reused: number;
  deleted: number;
  broken: number;
}

/** Applies steps to the service, and compares each response with the first one for its key. */
class Play {
  readonly #email: string;
  readonly #coverage: Coverage;
  #person: SignedIn;
  readonly #first = new Map<string, FirstAnswer>();
  readonly #job_ids: string[] = [];
  /** The latest time at which a request or an alarm may have run. */
  #latest_ms = 0;

  constructor(email: string, person: SignedIn, coverage: Coverage) {
    this.#email = email;
    this.#person = person;
    this.#coverage = coverage;
  }

  async take(step: Step): Promise<void> {
    this.#latest_ms = Math.max(this.#latest_ms, Date.now());
    switch (step.do) {
      case "alarm":
        return this.#fireAlarm();
      case "repeat": {
        const firsts = [...this.#first.values()];
        const first = firsts[step.pick % Math.max(1, firsts.length)];
        if (first === undefined) return;
        const body = step.same ? first.body : { ...first.body, ...OTHER };
        return this.#write(first.path, body, first.key);
      }
      case "wait":
        vi.setSystemTime(Date.now() + step.ms);
        // A session token is valid for 15 minutes.
        this.#person = await signInWithCredits("demo", this.#email);
        return;
      case "evict":
        return evict(this.#person.identity_id);
      case "break":
        return this.#break(step.write);
      case "create":
      case "complete":
      case "fail":
      case "batch":
        return this.#write(PATHS[step.do], this.#bodyOf(step), step.key);
    }
  }

  #bodyOf({ do: what, job, cost }: Write): object {
    const job_id = this.#job_ids.at(-1 - job) ?? "018f0000-0000-7000-8000-000000000000";
    switch (what) {
      case "create":
        return { ...JOB, cost_estimate: cost };
      case "complete":
        return { job_id, actual_cost: cost, metadata: { cost } };
      case "fail":
        return { job_id };
      case "batch":
        return { jobs: [{ ...JOB, cost_estimate: cost }] };
    }
  }

  /** Sends a write that storage fails. The rollback must leave no first response for its key. */
  async #break({ key, ...rest }: Write): Promise<void> {
    await this.#settleTime();
    const { identity_id } = this.#person;
    const before = await dump(identity_id);
    for (const on of ["insert", "update"]) {
      const action = `before ${on} on jobs begin select raise(abort, 'no'); end`;
      await query(identity_id, `create trigger no_${on} ${action}`);
    }
    const headers = key === null ? {} : { "Idempotency-Key": key };
    const answer = await this.#person.post(PATHS[rest.do], this.#bodyOf({ key, ...rest }), headers);
    for (const on of ["insert", "update"]) await query(identity_id, `drop trigger no_${on}`);
    expect(await dump(identity_id)).toBe(before);
    if (answer.status === 500) this.#coverage.broken += 1;
  }

  async #write(path: string, body: object, key: string | null): Promise<void> {
    await this.#settleTime();
    const before = await dump(this.#person.identity_id);
    const entry_ms = await this.#newestEntry();
    const headers: Record<string, string> = key === null ? {} : { "Idempotency-Key": key };
    const answer = await this.#person.post(path, body, headers);
    const is_replayed = answer.headers.get("Idempotency-Replayed") === "true";
    if (is_replayed || answer.status >= 400 || isRefusedBatch(answer)) {
      expect(await dump(this.#person.identity_id)).toBe(before);
    } else {
      this.#noteJobs(answer);
    }
    if (key === null) return;
    this.#compare(path, body, key, answer, entry_ms);
    const at = this.#nameOf(path, body, key);
    const first = this.#first.get(at);
    // The 24 hours of a key begin at the time of its entry, which is never before that of an earlier entry.
    if (first?.text === answer.text && !is_replayed) {
      this.#first.set(at, { ...first, at_ms: await this.#newestEntry() });
    }
  }

  /** The key of a complete or fail request belongs to its job. Another job may use the same key. */
  #nameOf(path: string, body: object, key: string): string {
    return [path, key, (body as { readonly job_id?: string }).job_id].join(" ");
  }

  async #newestEntry(): Promise<number> {
    const times = "select max(at_ms) as at_ms from entries";
    const [row] = await query<{ at_ms: number | null }>(this.#person.identity_id, times);
    return row?.at_ms ?? 0;
  }

  #compare(path: string, body: object, key: string, answer: Answer, entry_ms: number): void {
    const at = this.#nameOf(path, body, key);
    const is_of_job = "job_id" in body;
    const now_ms = is_of_job ? Date.now() : Math.max(Date.now(), entry_ms);
    const first = this.#first.get(at);
    const is_replayed = answer.headers.get("Idempotency-Replayed") === "true";
    const is_reused = answer.body.code === "idempotency_key_reused";
    const is_kept = first !== undefined && first.at_ms > now_ms - DAY_MS;
    // The clock was ahead and has gone back: the alarm may have deleted this key already, or not.
    const is_doubtful =
      first !== undefined && first.at_ms <= this.#latest_ms - DAY_MS - CLOCK_SKEW_MS;
    if (is_kept && !(is_doubtful && !is_replayed && !is_reused)) {
      const is_same = JSON.stringify(first.body) === JSON.stringify(body);
      expect([is_replayed, is_reused]).toEqual([is_same, !is_same]);
      if (is_same) expect(answer.text).toBe(first.text);
      this.#coverage[is_same ? "replays" : "reused"] += 1;
      return;
    }
    expect([is_replayed, is_reused]).toEqual([false, false]);
    if (answer.status !== 200 || isRefusedBatch(answer)) return;
    this.#first.delete(at);
    this.#first.set(at, { path, key, body, text: answer.text, at_ms: now_ms });
  }

  #noteJobs({ body }: Answer): void {
    if (body.job_id !== undefined) this.#job_ids.push(body.job_id);
    for (const { job_id } of body.results ?? []) this.#job_ids.push(job_id);
  }

  /** Runs the alarm first, so that the comparison of storage includes neither expiries nor deletions of old keys. */
  async #settleTime(): Promise<void> {
    await this.#fireAlarm();
  }

  async #fireAlarm(): Promise<void> {
    const { identity_id } = this.#person;
    const count = async () => (await query(identity_id, "select 1 from idempotency_keys")).length;
    const before = await count();
    await repeatAlarm(identity_id);
    if ((await count()) < before) this.#coverage.deleted += 1;
  }
}

const JOB = { app: "demo", action: "draw", cost_estimate: 0 };
/** Fields that make a body different. Unknown fields are ignored, so it has a field for each path. */
const OTHER = { action: "paint", metadata: { other: true }, refund: false, jobs: [JOB, JOB] };

function isRefusedBatch({ body }: Answer): boolean {
  const results = (body.results ?? []) as { code?: string }[];
  return results.length > 0 && results.every(({ code }) => code !== undefined);
}

describe("any history of requests under keys", () => {
  it(
    "a retry with a key gets the first response for 24 hours, byte by byte, and changes nothing",
    { tags: ["history"], timeout: 300_000 },
    async () => {
      vi.spyOn(console, "error").mockReturnValue();
      vi.spyOn(console, "warn").mockReturnValue();
      const coverage: Coverage = { replays: 0, reused: 0, deleted: 0, broken: 0 };
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 20, maxLength: 60, size: "max" }),
          async (steps) => {
            vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
            const email = `keys-${(runs += 1)}@example.com`;
            const person = await signInWithCredits("demo", email);
            const play = new Play(email, person, coverage);
            for (const one of steps) await play.take(one);
            await expectInvariants(person.identity_id);
            await expectDeletion(person.identity_id);
            expect(await query(person.identity_id, "select * from idempotency_keys")).toEqual([]);
            vi.useRealTimers();
          },
        ),
        { numRuns: histories(20), endOnFailure: true, examples: [[[...DELETED_KEY]]] },
      );
      // A short run may not reach every case.
      if (!IS_SLOW_CHECK) return;
      for (const [what, times] of Object.entries(coverage))
        expect([what, times > 0]).toEqual([what, true]);
    },
  );
});
