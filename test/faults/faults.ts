/**
 * Faults for the simulator: each breaks one rule of the code, as a careless change would. `npm run faults` puts each into
 * the code while it is loaded, and shows which seed finds it.
 */
import type { Replacement } from "../simulator/platform/modules.ts";

export interface Fault {
  readonly name: string;
  /** What is wrong then. */
  readonly why: string;
  readonly changes: readonly Replacement[];
}

function fault(name: string, why: string, file: string, from: string, to: string): Fault {
  return { name, why, changes: [{ file: `src/${file}`, from, to }] };
}

const CREATE = "account/jobs/create.ts";
const SETTLE = "account/jobs/settle.ts";
const END = "account/jobs/end.ts";
const EXPIRY = "account/jobs/expiry.ts";
const JOB = "domain/job.ts";
const STORE = "account/sql/store.ts";
const SPENDING = "account/allowances/spending.ts";
const ALLOWANCE_STORE = "account/sql/allowance_store.ts";
const STEPS = "account/idempotency/job_steps.ts";
const OUTBOX = "account/sync/outbox.ts";
const LOTS = "domain/lots.ts";
const PLANS = "domain/plans.ts";
const POSTING = "account/ledger/posting.ts";
const TOP_UP_STORE = "account/sql/top_up_store.ts";

export const FAULTS: readonly Fault[] = [
  {
    name: "lost_update",
    why: "an insert does not renew the newest entry in memory",
    changes: [
      {
        file: `src/${STORE}`,
        from: "    this.#newest_entry = undefined;\n    const columns",
        to: "    const columns",
      },
      {
        file: `src/${STORE}`,
        from: "    this.#newest_entry = row;\n    return written;",
        to: "    return written;",
      },
    ],
  },
  fault(
    "memory_after_rollback",
    "after a roll-back, memory keeps what storage has not",
    STORE,
    "      this.forget();\n      throw error;",
    "      throw error;",
  ),
  fault(
    "double_settle",
    "a completed job may be completed again",
    JOB,
    "  const late = endedEarly(job) && job.refunded === 0;",
    '  const late = job.status !== "started";',
  ),
  fault(
    "late_after_refund",
    "a job may be completed late after a refund of its cost",
    JOB,
    "const late = endedEarly(job) && job.refunded === 0;",
    "const late = endedEarly(job);",
  ),
  fault(
    "late_cost_twice",
    "a late completion does not count the reserve that was kept",
    JOB,
    "const taken = late ? job.actual_cost : job.reserved;",
    "const taken = late ? 0 : job.reserved;",
  ),
  fault(
    "overdraft",
    "a job is reserved although the balance does not cover it",
    JOB,
    "  if (spendable < cost_estimate) {",
    "  if (spendable < cost_estimate - 10) {",
  ),
  fault(
    "beyond_policy",
    "a job may cost more than its app's policy allows",
    JOB,
    "  if (limit !== null && actual_cost > limit) return",
    "  if (limit !== null && actual_cost > 2 * limit) return",
  ),
  fault(
    "failed_beyond_reserve",
    "a failed job may cost more than its reserve",
    JOB,
    "  if (cost > job.reserved) return",
    "  if (cost > job.reserved + 2) return",
  ),
  fault(
    "refund_beyond_cost",
    "an operator gives back more than a job cost",
    JOB,
    "const limit = actual_cost - refunded;",
    "const limit = actual_cost;",
  ),
  fault(
    "forgotten_expiry",
    "no call ends overdue jobs",
    "account/admission.ts",
    "    expireDueJobs(transaction);\n",
    "",
  ),
  fault(
    "expiry_not_armed",
    "a new job sets no alarm for its expiry",
    EXPIRY,
    "  alarm.by(expires_at_ms);\n  store.deadlines",
    "  store.deadlines",
  ),
  fault(
    "expiry_not_remembered",
    "a new job is not among the next ones to expire",
    EXPIRY,
    "  store.deadlines.next_expiry.add(expires_at_ms);\n",
    "",
  ),
  fault(
    "lost_alarm_not_read",
    "an alarm that fires early is not set again",
    "account/instance.ts",
    "    store.deadlines.next_expiry.forget();\n",
    "",
  ),
  fault(
    "charge_on_expiry",
    "an expired job costs nothing, whatever its app's policy says",
    JOB,
    '(on_expiry === "charge" ? reserved : 0)',
    "0",
  ),
  fault(
    "skipped_replay_guard",
    "a repeated creation creates a second job",
    "account/idempotency/responses.ts",
    "  if (row === undefined) return null;",
    '  if (row === undefined || row.endpoint.startsWith("jobs.")) return null;',
  ),
  fault(
    "replay_of_other_body",
    "a key is accepted with another body",
    "account/idempotency/once.ts",
    "  return first.fingerprint === keyed?.fingerprint",
    "  return keyed !== null",
  ),
  fault(
    "key_of_every_caller",
    "callers share their keys",
    "account/idempotency/once.ts",
    "      return caller.allowance.id;",
    '      return "holder";',
  ),
  fault(
    "replay_after_refund",
    "a repeated completion shows a later refund",
    "account/idempotency/job_keys.ts",
    "return { ...job, refunded: 0, updated_at_ms, line };",
    "return job;",
  ),
  fault(
    "key_kept_an_hour",
    "a key is forgotten after an hour",
    "account/idempotency/responses.ts",
    "at_ms - IDEMPOTENCY_KEEP_MS);",
    "at_ms - IDEMPOTENCY_KEEP_MS / 24);",
  ),
  fault(
    "step_fence_on_end",
    "a run that lost its job may still end it",
    SETTLE,
    "  const too_old = endable.ok ? whyTooOld(endable.value, step) : null;",
    "  const too_old = endable.ok && step === undefined ? whyTooOld(endable.value, step) : null;",
  ),
  fault(
    "step_shared_by_runs",
    "two runs may take the same step",
    STEPS,
    '  if (report.run !== run) return refused({ code: "step_too_old", step });\n',
    "",
  ),
  fault(
    "step_taken_twice",
    "a repeated step is taken again",
    STEPS,
    "const report = step === job.step ? lastReport(job) : null;",
    "const report = null as LastReport | null;",
  ),
  fault(
    "moved_expiry_forgotten",
    "a step that prolongs a job leaves its old deadline",
    "account/jobs/progress.ts",
    "expires_at_ms: ttl_seconds === null ? job.expires_at_ms : now_ms + ttl_seconds * 1000,",
    "expires_at_ms: job.expires_at_ms,",
  ),
  fault(
    "ancestor_not_charged",
    "a job counts for the caps of its own token only",
    SPENDING,
    "  const path = allowances.readPath(allowance_path);\n  const takings =",
    "  const path = allowances.readPath(allowance_path).slice(0, 1);\n  const takings =",
  ),
  fault(
    "ancestor_not_asked",
    "the caps of a token's ancestors do not bind its jobs",
    SPENDING,
    "  const exceeded = whyCapExceeded(path.flatMap(capsOf),",
    "  const exceeded = whyCapExceeded(path.slice(0, 1).flatMap(capsOf),",
  ),
  fault(
    "overage_beyond_cap",
    "an overage may exceed a cap",
    SPENDING,
    "    if (over_cap !== null) return over_cap;\n",
    "",
  ),
  fault(
    "cap_not_given_back",
    "what a job did not use stays spent in its caps",
    "domain/spending_cap.ts",
    "    spent: Math.max(0, spentNow(cap, now_ms) - credits),",
    "    spent: spentNow(cap, now_ms),",
  ),
  fault(
    "claim_not_held",
    "an expired job of an app that settles its own frees its caps at once",
    "account/jobs/claims.ts",
    "  return may_be_late ? job.reserved - step.actual_cost : 0;",
    "  return may_be_late ? 0 : 0;",
  ),
  fault(
    "revoked_child",
    "a token lives on when its parent is revoked",
    ALLOWANCE_STORE,
    "return is_complete && chain.every((row) => isLiving(row, now_ms)) ? chain : null;",
    "return is_complete && isLiving(own, now_ms) ? chain : null;",
  ),
  fault(
    "jobs_of_revoked_child",
    "the jobs of an exchanged token go on when its root is revoked",
    STORE,
    "(allowance_path is not null\n",
    "(allowance_path is not null and instr(allowance_path, ' ') = 0\n",
  ),
  fault(
    "expired_token",
    "an expired token is accepted",
    ALLOWANCE_STORE,
    "return revoked_at_ms === null && expires_at_ms > now_ms;",
    "return revoked_at_ms === null && expires_at_ms > now_ms - 3_600_000;",
  ),
  fault(
    "sessions_end_nothing",
    "a token outlives the session that it ends with",
    "account/allowances/allowances.ts",
    "    allowances.endOfSessions(session_ids, now_ms);\n",
    "",
  ),
  fault(
    "stopped_app_starts",
    "a token may start a job for a stopped app",
    CREATE,
    "  if (stopped !== null) return refused(stopped);\n",
    "",
  ),
  fault(
    "suspension_ignored",
    "a suspended account lets its tokens in",
    "account/admission.ts",
    "    if (suspended !== null) return refused(suspended);\n",
    "",
  ),
  fault(
    "capped_ends_others",
    "a capped token ends jobs that are not its own",
    "account/caller.ts",
    "      if (isCapped(acting) && !is_own) return",
    '      if (isCapped(acting) && !is_own && job.settle === "app") return',
  ),
  fault(
    "holder_settles_for_app",
    "the holder settles a job that only its app may settle",
    "account/caller.ts",
    '      return job.settle === "app" ? { code: "app_settles" } : null;',
    "      return null;",
  ),
  fault(
    "grant_twice",
    "an app grants its starter credits again",
    "account/wallet/wallet.ts",
    "known !== null && (known.granted_at_ms !== null || caller.kind",
    "known !== null && (caller.kind",
  ),
  fault(
    "budget_claimed_twice",
    "a repeated reservation takes from the budget again",
    "budget/object.ts",
    "      if (total + credits > budget) {",
    "      if (total > budget) {",
  ),
  fault(
    "collected_twice",
    "a device login can be collected twice",
    "device/object.ts",
    '    this.#write({ ...login, state });\n    return accepted({ kind: "collected"',
    '    void state;\n    return accepted({ kind: "collected"',
  ),
  fault(
    "purchase_twice",
    "a repeated event of a payment gives credits again",
    "account/purchases/purchases.ts",
    "  if (bought.readPurchase(checkout_session_id) !== null) return accepted(null);\n",
    "",
  ),
  fault(
    "delivery_not_repeated",
    "a failed delivery to the read model counts as delivered",
    OUTBOX,
    "      return this.#postpone(error);",
    "      return this.#postpone(error) === 0 ? 0 : null;",
  ),
  fault(
    "totals_twice",
    "D1 takes a delivery of its account whatever it continues from",
    "readmodel/direct_projector.ts",
    'exists (select 1 from accounts where ${isRowOf("$.after")}))`;',
    "exists (select 1 from accounts where accounts.id = value ->> '$.id'))`;",
  ),
  fault(
    "refused_is_delivered",
    "an object takes a refused delivery for delivered",
    OUTBOX,
    'return "refused";\n',
    "return left;\n",
  ),
  fault(
    "webhook_skips_failed",
    "an event that a receiver refused is skipped",
    "webhooks/sender.ts",
    "    const next_ms = await postpone(context, webhook, recorded, all);",
    "    save(sent);\n    const next_ms = await postpone(context, webhook, recorded, all);",
  ),
  fault(
    "webhook_page_ahead",
    "a sender stores the end of a page with its first event",
    "webhooks/sender.ts",
    "is_last ? { position: end, news, waiting: null } : { position, waiting: null }",
    "{ position: end, news: is_last ? news : null, waiting: null }",
  ),
  fault(
    "webhooks_not_notified_again",
    "an account that restarts does not notify the senders that it may have left",
    "account/webhooks/outbox.ts",
    "    this.#may_be_behind = is_armed;",
    "    this.#may_be_behind = is_armed && false;",
  ),
  fault(
    "older_build_runs",
    "an older build runs on newer data",
    "account/sql/migrate.ts",
    "  return oldest_build > BUILD;",
    "  return oldest_build > BUILD + 1_000;",
  ),
  fault(
    "time_goes_back",
    "the time of an entry follows a clock that goes back",
    "account/ledger/posting.ts",
    "const at_ms = Math.max(now_ms, newest?.at_ms ?? now_ms);",
    "const at_ms = now_ms;",
  ),
  fault(
    "open_jobs_miscounted",
    "a job that expires still counts as started",
    END,
    "const started = withoutEnded(store, startedJobsOf(store.readNewestEntry()), job, now_ms);",
    'const started = withoutEnded(store, startedJobsOf(store.readNewestEntry()), step.failure === "expired" ? { ...job, status: "failed" } : job, now_ms);',
  ),
  fault(
    "lot_expiry_forgotten",
    "no call expires credits whose time is over",
    "account/admission.ts",
    "    expireDueLots(transaction);\n",
    "",
  ),
  fault(
    "lot_alarm_forgotten",
    "no alarm is set for the expiry of a lot",
    POSTING,
    "[nextDueAt(awake), ...turns_at_ms]",
    "turns_at_ms",
  ),
  fault(
    "drained_lot_used",
    "memory keeps a lot as it was before a job took from it",
    "account/sql/lot_store.ts",
    "    this.#living = saved.filter(isLiving);",
    "    this.#living = before;",
  ),
  fault(
    "held_credits_expire",
    "what jobs hold of a lot expires with it",
    LOTS,
    "  return changeLot(credits, lot_id, () => ({ left: 0 }));",
    "  return changeLot(credits, lot_id, () => ({ left: 0, held: 0 }));",
  ),
  fault(
    "hold_back_to_base",
    "what a job gives back goes to the base and not to its lot",
    LOTS,
    "      now = moved(now, part, rest);",
    "      now = moved(now, { ...part, lot_id: null }, rest);",
  ),
  fault(
    "returned_is_lost",
    "what comes back to an expired lot expires with it",
    LOTS,
    'isExpired(lot, clock.now_ms) && lot.origin !== "returned";',
    "false;",
  ),
  fault(
    "bought_before_given",
    "a job uses bought credits before given ones of the same time",
    LOTS,
    "      Number(one.bought) - Number(other.bought) ||",
    "      Number(other.bought) - Number(one.bought) ||",
  ),
  fault(
    "other_apps_credits",
    "a reserve counts credits that are for other apps",
    LOTS,
    "  const usable = lots.filter((lot) => isUsableIn(lot, app_slug));",
    "  const usable = lots;",
  ),
  fault(
    "debt_not_paid",
    "credits that come in become a lot although the account owes",
    LOTS,
    "  const pays = terms.app_slugs === null ? toPay(credits, amount) : 0;",
    "  const pays = 0;",
  ),
  fault(
    "refund_spares_its_lot",
    "a refund of a purchase takes from the base although its lot has credits left",
    LOTS,
    "    const taken = Math.min(rest, lot.left, of_payment);",
    "    const taken = 0;",
  ),
  fault(
    "rollover_twice",
    "a turn in time brings what rolls over once more",
    PLANS,
    "    slept: is_in_time ? 0 : keeps,",
    "    slept: keeps,",
  ),
  fault(
    "rollover_again",
    "what rolled over goes on for a further period",
    LOTS,
    "  const without = [lot, earlier].reduce(",
    "  const without = [lot].reduce(",
  ),
  fault(
    "period_twice",
    "an account that leaves its plan and comes back gets the period's credits again",
    PLANS,
    "  const own = left.find((it) => it.plan === plan);",
    "  const own = left.find((it) => it.plan === plan && false);",
  ),
  fault(
    "turn_without_alarm",
    "no alarm is set for the turns of a plan",
    POSTING,
    "[nextDueAt(awake), ...turns_at_ms]",
    "[nextDueAt(awake)]",
  ),
  fault(
    "alarm_replaced",
    "the first part of an alarm's work sets the next alarm before the others are done",
    "account/sync/alarm.ts",
    "    this.#is_held = true;",
    "    this.#is_held = false;",
  ),
  fault(
    "month_limit_forgets",
    "a month's limit of top-ups does not count the charges that were booked",
    TOP_UP_STORE,
    "where created_at_ms >= ? and checkout_session_id",
    "where created_at_ms < ? and checkout_session_id",
  ),
  fault(
    "unknown_is_failed",
    "a charge with an unknown outcome counts as declined, and another one follows",
    "account/charging.ts",
    '    case "unknown":\n      return accepted(null);',
    '    case "unknown":\n      return failTopUp(transaction, { number, reason: "declined", payment_intent_id: null });',
  ),
  fault(
    "fourth_attempt",
    "automatic top-up is off only after four failures",
    "domain/top_up.ts",
    "failures >= FAILURES_MAX ? reason",
    "failures > FAILURES_MAX ? reason",
  ),
  fault(
    "bank_not_heard",
    "a bank that requires the person is asked again",
    "domain/top_up.ts",
    'reason === "authentication_required" || failures',
    "failures",
  ),
  fault(
    "suspended_is_charged",
    "a suspension leaves automatic top-up on",
    "account/operators/acts.ts",
    '  switchOff(transaction, "suspended");\n',
    "",
  ),
  fault(
    "top_up_forgotten",
    "no transaction decides on a top-up",
    "account/admission.ts",
    "    decideTopUp(acting);\n",
    "",
  ),
  fault(
    "top_up_one_package",
    "a top-up buys one package too many",
    "domain/top_up.ts",
    "(gap - 1 - ((gap - 1) % of_package)) / of_package + 1;",
    "(gap - 1 - ((gap - 1) % of_package)) / of_package + 2;",
  ),
];

/** @throws if there is no such fault. */
export function faultNamed(name: string): Fault {
  const found = FAULTS.find((it) => it.name === name);
  if (found === undefined) {
    throw new Error(
      `no fault is named ${name}; there are ${FAULTS.map((it) => it.name).join(", ")}`,
    );
  }
  return found;
}
