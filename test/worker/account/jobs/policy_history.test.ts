import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { JobPolicy } from "../../../../src/domain/app_policy.ts";
import { expectInvariants } from "../invariants.ts";
import { evict, fireAlarm } from "../../support/account_object.ts";
import { histories } from "../../support/histories.ts";

const GRANT = 100;
const HOLDER = { kind: "holder" } as const;
const APP = { kind: "app", app_slug: "demo", key_hash: "0".repeat(64) } as const;

type Run = "first" | "second";

type Step =
  | {
      readonly do: "create";
      readonly by: "holder" | "app";
      readonly policy: JobPolicy;
      readonly estimate: number;
    }
  | {
      readonly do: "complete";
      readonly by: "holder" | "app";
      readonly job: number;
      readonly cost: number;
      readonly ahead: number | null;
    }
  | {
      readonly do: "fail";
      readonly by: "holder" | "app";
      readonly job: number;
      readonly refund: boolean;
      readonly cost: number | undefined;
      readonly ahead: number | null;
    }
  | {
      readonly do: "progress";
      readonly by: "holder" | "app";
      readonly job: number;
      readonly reserve: number | null;
      readonly spent: number | null;
      readonly ttl_seconds: number | null;
      /** The run that takes the step. */
      readonly run: Run;
      /** The step, counted from the job's last one. */
      readonly ahead: number;
      readonly repeat: boolean;
    }
  | { readonly do: "wait"; readonly seconds: number }
  | { readonly do: "evict" | "alarm" };

const by = fc.constantFrom("holder" as const, "app" as const);
const job = fc.nat({ max: 4 });
/** The step that an end names, counted from the job's last one; null: none. */
const ahead = fc.constantFrom(null, 0, -1, 5);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("create" as const),
    by,
    policy: fc.record({
      settle: fc.constantFrom("holder" as const, "app" as const),
      on_expiry: fc.constantFrom("refund" as const, "charge" as const),
      max_overage_percent: fc.constantFrom(null, 0, 50),
    }),
    estimate: fc.nat({ max: 40 }),
  }),
  fc.record({ do: fc.constant("complete" as const), by, job, cost: fc.nat({ max: 60 }), ahead }),
  fc.record({
    do: fc.constant("fail" as const),
    by,
    job,
    refund: fc.boolean(),
    cost: fc.option(fc.nat({ max: 60 }), { nil: undefined }),
    ahead,
  }),
  fc.record({
    do: fc.constant("progress" as const),
    by,
    job,
    reserve: fc.option(fc.nat({ max: 60 })),
    spent: fc.option(fc.nat({ max: 40 })),
    ttl_seconds: fc.option(fc.constantFrom(60, 90)),
    run: fc.constantFrom("first" as const, "second" as const),
    ahead: fc.constantFrom(1, 1, 1, 7, 0, -1),
    repeat: fc.boolean(),
  }),
  fc.record({ do: fc.constant("wait" as const), seconds: fc.integer({ min: 10, max: 70 }) }),
  fc.record({ do: fc.constantFrom("evict" as const, "alarm" as const) }),
);

interface ModelJob {
  readonly id: string;
  readonly policy: JobPolicy;
  readonly estimate: number;
  reserved: number;
  spent: number | null;
  step: number;
  /** The run that took the last step. */
  run: Run | null;
  deadline_ms: number;
  state: "started" | "completed" | "failed" | "timed out";
  /** The credits that the job has taken from the balance. */
  taken: number;
}

/** The rules of the documentation: who may end a job, and how many credits it then costs. */
class Model {
  readonly jobs: ModelJob[] = [];

  get credits(): number {
    return GRANT - this.jobs.reduce((sum, { taken }) => sum + taken, 0);
  }

  now(at_ms: number): void {
    for (const it of this.jobs) {
      if (it.state !== "started" || it.deadline_ms > at_ms) continue;
      it.state = "timed out";
      it.taken = it.spent ?? (it.policy.on_expiry === "refund" ? 0 : it.reserved);
    }
  }

  /** Returns the error code if the caller may never end the job, or null. */
  mayEnd(it: ModelJob | undefined, who: "holder" | "app"): string | null {
    if (it === undefined) return "job_unknown";
    return it.policy.settle === "app" && who === "holder" ? "app_settles" : null;
  }

  /** Returns the error code if the job cannot end, or null. */
  end(it: ModelJob | undefined, who: "holder" | "app", late_counts: boolean): string | null {
    const never = this.mayEnd(it, who);
    if (never !== null || it === undefined) return never;
    const open = it.state === "started" || (late_counts && it.state === "timed out");
    return open ? null : "job_ended";
  }

  /** Returns the error code if another run has taken a later step, or null. */
  tooOld(it: ModelJob | undefined, ahead: number | null): string | null {
    return it !== undefined && ahead !== null && it.step + ahead < it.step ? "step_too_old" : null;
  }

  /** Returns the error code if a started job may not hold or have spent so much, or null. */
  whyNoProgress(
    it: ModelJob | undefined,
    reserve: number | null,
    spent: number | null,
  ): string | null {
    if (it === undefined) return "job_unknown";
    const reserved = reserve ?? it.reserved;
    if ((spent ?? it.spent ?? 0) > reserved) return "spent_limit";
    const added = reserved - it.reserved;
    if (added > 0 && this.exceeds(it, reserved) !== null) return "overage_limit";
    return added > 0 && added > this.credits ? "insufficient_credits" : null;
  }

  /** Returns the error code if the cost exceeds what the job's policy allows, or null. */
  exceeds(it: ModelJob | undefined, cost: number): string | null {
    const percent = it?.policy.max_overage_percent ?? null;
    if (it === undefined || percent === null) return null;
    return (cost - it.estimate) * 100 > it.estimate * percent ? "overage_limit" : null;
  }
}

const stepOf = (it: ModelJob | undefined, ahead: number | null): number | undefined =>
  ahead === null ? undefined : (it?.step ?? 0) + ahead;

async function play(identity_id: string, steps: readonly Step[]): Promise<void> {
  const account = () => env.ACCOUNT.getByName(identity_id);
  const model = new Model();
  await account().wallet(HOLDER, { app: { slug: "demo", starter_credits: GRANT } });
  for (const one of steps) {
    model.now(Date.now());
    const who = "by" in one && one.by === "app" ? APP : HOLDER;
    const target = "job" in one ? model.jobs[model.jobs.length - 1 - one.job] : undefined;
    const job_id = target?.id ?? "018f0000-0000-7000-8000-000000000000";
    switch (one.do) {
      case "create": {
        // A plain object, because RPC does not serialize an object without a prototype.
        const policy = { ...one.policy };
        const { estimate: cost_estimate } = one;
        const request = { app_slug: "demo", policy, action: "draw", cost_estimate };
        const rest = { ttl_seconds: 60, metadata_json: null };
        const answer = await account().createJob(who, { ...request, ...rest }, null);
        expect(answer.ok).toBe(model.credits >= cost_estimate);
        if (!answer.ok) break;
        const { job_id: id } = answer.value.value;
        const deadline_ms = Date.now() + 60_000;
        const state = "started" as const;
        model.jobs.push({
          id,
          policy,
          estimate: cost_estimate,
          reserved: cost_estimate,
          spent: null,
          step: 0,
          run: null,
          deadline_ms,
          state,
          taken: cost_estimate,
        });
        break;
      }
      case "complete": {
        const step = stepOf(target, one.ahead);
        const request = { job_id, step, actual_cost: one.cost, metadata_json: null };
        const answer = await account().completeJob(who, request, null);
        const refusal =
          model.mayEnd(target, one.by) ??
          model.tooOld(target, one.ahead) ??
          model.end(target, one.by, true) ??
          model.exceeds(target, one.cost);
        expect(answer.ok ? null : answer.refusal.code).toBe(refusal);
        if (refusal === null && target !== undefined) {
          Object.assign(target, { state: "completed", taken: one.cost });
        }
        break;
      }
      case "fail": {
        const { refund, cost } = one;
        const step = stepOf(target, one.ahead);
        const request = { job_id, step, refund, cost, reason: null, metadata_json: null };
        const answer = await account().failJob(who, request, null);
        const refusal =
          model.mayEnd(target, one.by) ??
          model.tooOld(target, one.ahead) ??
          model.end(target, one.by, false) ??
          ((cost ?? 0) > (target?.reserved ?? 0) ? "spent_limit" : null);
        expect(answer.ok ? null : answer.refusal.code).toBe(refusal);
        if (refusal === null && target !== undefined) {
          const taken = cost ?? (refund ? 0 : target.reserved);
          Object.assign(target, { state: "failed", taken });
        }
        break;
      }
      case "progress": {
        const { reserve, spent, ttl_seconds, run } = one;
        const step = Math.max(1, stepOf(target, one.ahead) ?? 1);
        const terms = { reserve, spent, ttl_seconds };
        const request = { job_id, step, run, ...terms, fingerprint: JSON.stringify(terms) };
        const answer = await account().reportProgress(who, request);
        if (target !== undefined && step <= target.step) {
          const is_own = step === target.step && run === target.run;
          const refusal =
            model.mayEnd(target, one.by) ?? (is_own ? "idempotency_key_reused" : "step_too_old");
          // A repeated step with the same terms has no effect.
          if (answer.ok) expect([answer.value.replayed, is_own]).toEqual([true, true]);
          else expect(answer.refusal.code).toBe(refusal);
          break;
        }
        const refusal =
          model.end(target, one.by, false) ?? model.whyNoProgress(target, reserve, spent);
        expect(answer.ok ? null : answer.refusal.code).toBe(refusal);
        if (!answer.ok || target === undefined) break;
        const reserved = reserve ?? target.reserved;
        Object.assign(target, { reserved, taken: reserved, spent: spent ?? target.spent });
        Object.assign(target, { step, run });
        if (ttl_seconds !== null) target.deadline_ms = Date.now() + ttl_seconds * 1000;
        expect(answer.value.value.credits).toBe(model.credits);
        if (!one.repeat) break;
        const again = await account().reportProgress(who, request);
        expect(again).toEqual({ ok: true, value: { ...answer.value, replayed: true } });
        const other = await account().reportProgress(who, { ...request, fingerprint: "two" });
        expect(other).toMatchObject({ refusal: { code: "idempotency_key_reused" } });
        break;
      }
      case "wait":
        vi.setSystemTime(Date.now() + one.seconds * 1000);
        break;
      case "evict":
        await evict(identity_id);
        break;
      case "alarm":
        await fireAlarm(identity_id);
    }
  }
  model.now(Date.now());
  const wallet = await account().wallet(APP, { app: null });
  expect(wallet.ok && wallet.value.account.credits).toBe(model.credits);
  await expectInvariants(identity_id);
}

describe("any history of jobs under an app's policies", () => {
  it(
    "any history of jobs under an app's policies matches the model and keeps every invariant",
    { tags: ["history"] },
    async () => {
      vi.spyOn(console, "warn").mockReturnValue();
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 5, maxLength: 30, size: "max" }),
          async (steps) => {
            vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
            await play(`policy-player-${(runs += 1)}`, steps);
            vi.useRealTimers();
          },
        ),
        { numRuns: histories(60) },
      );
    },
  );
});
