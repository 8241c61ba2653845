/**
 * The figures that show whether the service is healthy, each with its limit. A figure above its limit is a warning and
 * wakes an operator. Pure.
 */

import { longestOutagePause } from "./back_off.ts";
import { trafficShares, type Traffic } from "./error_budget.ts";
import { D1_MAX_BYTES, STORAGE_FILLING_PERCENT, STORAGE_HALF_PERCENT } from "./limits.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Failures, counted where they happen: see `directory/failures.ts`. */
const FAILURE_KINDS = [
  /** A request was answered with status 5xx. */
  "failed_request",
  /** An account's changes did not reach the read model. */
  "failed_delivery",
  /** An account could not write to the archive. */
  "failed_archive",
  /** The schedule found an account that differs from its copies. */
  "difference",
  /** The schedule found a started job after its deadline. */
  "overdue_job",
  /** A genuine event of the payment service must be sent again. */
  "failed_payment_event",
  /** Somebody paid and has no credits, or got them late. */
  "payment_not_booked",
  /** An automatic top-up was not paid, or it is not known yet. */
  "failed_top_up",
  /** An event of the payment service changed nothing. */
  "dropped_payment_event",
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** The failures of one kind in a figure's window. */
export interface CountedFailures {
  readonly count: number;
  readonly newest_at_ms: number;
  /** The time since which the oldest of them waits; equal to the newest if none waits. */
  readonly oldest_at_ms: number;
  /** The reason of the newest. */
  readonly reason: string;
}

interface FigureRule {
  readonly unit: string;
  /** The highest value that is fine; null: the value is only shown, or a setting limits it. */
  readonly limit: number | null;
}

/** The figures in the order in which they are shown. */
export const FIGURES = {
  /** At this rate, an hour uses up 2% of the failures that an objective allows in 30 days. */
  fast_burn: { unit: "times", limit: 14.4 },
  /** At this rate, six hours use up 5% of them. */
  slow_burn: { unit: "times", limit: 6 },
  /** A single caller without pauses is less. More is an app with a defect, or a limit that is too low. */
  limited_requests: { unit: "percent", limit: 5 },
  /** Only while the metrics of requests are not read: twenty in twenty minutes are a fault of a small service. */
  failed_requests: { unit: "requests", limit: 20 },
  /** An account retries at least every 15 minutes, so after that a retry has failed too. */
  read_model_lag: { unit: "seconds", limit: 15 * 60 },
  /** A single account that cannot deliver shows in the lag. A hundred failures mean that D1 or the queue is down. */
  failed_deliveries: { unit: "deliveries", limit: 100 },
  /** An account retries at least every 15 minutes. After an hour, the archive is down or has a segment that does not fit. */
  archive_failing: { unit: "seconds", limit: 60 * 60 },
  /** The schedule copies what a request could not. After an hour, the archive is down, or many people wait. */
  people_waiting: { unit: "seconds", limit: 60 * 60 },
  /** The schedule makes a copy each day. After two days, one has failed. */
  directory_copy_age: { unit: "seconds", limit: 2 * 24 * 60 * 60 },
  /** Of the 10 GB of the fuller database. The rest is weeks of growth, because a shard takes long. */
  database_size: { unit: "percent", limit: 70 },
  /** Old rows leave such an account by themselves. */
  half_full_accounts: { unit: "accounts", limit: null },
  /** Even its young rows take too much. At 100% it creates no job. */
  filling_accounts: { unit: "accounts", limit: 0 },
  /** Money that does not add up: each one needs a person. */
  differences: { unit: "differences", limit: 0 },
  /** Since the schedule began to compare all accounts: it compares each one within a week. */
  comparison_age: { unit: "seconds", limit: 7 * 24 * 60 * 60 },
  /** The schedule wakes an account an hour after its last entry. After two hours that did not help either. */
  overdue_jobs: { unit: "seconds", limit: 2 * 60 * 60 },
  /** Three missed runs: each starts ten minutes after the one before. */
  schedule_age: { unit: "seconds", limit: 30 * 60 },
  /** Tasks that failed in three runs in a row. One failure is repeated by the next run. */
  failing_tasks: { unit: "tasks", limit: 0 },
  /** Stripe sends an event again for three days. A few failures in an hour mend themselves. */
  failed_payment_events: { unit: "events", limit: 5 },
  /** Somebody paid: each one needs a person. */
  payments_not_booked: { unit: "payments", limit: 0 },
  /** Cards are declined every day. A hundred in an hour are a fault, of Stripe or of a key. */
  failed_top_ups: { unit: "charges", limit: 100 },
  /** Not every dropped event is a fault: another service may use the same Stripe account. */
  dropped_payment_events: { unit: "events", limit: null },
  /** Its receiver accepted nothing for three days. A webhook that its owner switched off does not count. */
  paused_webhooks: { unit: "webhooks", limit: 0 },
  /** Its receiver has accepted nothing for an hour. Events wait, and are sent again. */
  failing_webhooks: { unit: "webhooks", limit: 0 },
  /** People who open such an app get no starter credits before midnight UTC. */
  used_up_budgets: { unit: "apps", limit: 0 },
  /** The setting `DAILY_SPEND_ALERT_CREDITS` is its limit. */
  spent_today: { unit: "credits", limit: null },
} as const satisfies Record<string, FigureRule>;

export type FigureName = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as readonly FigureName[];

/** The figures of the metrics of requests, which are compared with their limits each minute. */
export const TRAFFIC_FIGURES = ["fast_burn", "slow_burn", "limited_requests"] as const;

/** How far back failures count, except deliveries to the read model, see {@link failureWindow}. */
const FAILURE_WINDOWS_MS: Readonly<Record<Exclude<FailureKind, "failed_delivery">, number>> = {
  failed_request: 20 * MINUTE_MS,
  // Longer than the longest pause between two retries, so that a lasting failure does not disappear.
  failed_archive: 20 * MINUTE_MS,
  difference: 24 * HOUR_MS,
  // Each run of the schedule looks at some accounts only.
  overdue_job: HOUR_MS,
  failed_payment_event: HOUR_MS,
  payment_not_booked: 24 * HOUR_MS,
  failed_top_up: HOUR_MS,
  dropped_payment_event: 24 * HOUR_MS,
};

/** The longest {@link failureWindow}. */
export const FAILURE_WINDOW_MAX_MS = 24 * HOUR_MS;

/**
 * How long a failure counts, in milliseconds.
 * @param lasting_ms how long it had lasted. Deliveries are retried after longer and longer pauses, and a lasting failure must
 * not disappear in between.
 */
export function failureWindow(kind: FailureKind, lasting_ms: number): number {
  if (kind !== "failed_delivery") return FAILURE_WINDOWS_MS[kind];
  return longestOutagePause(lasting_ms) + 5 * MINUTE_MS;
}

/** How long a task of the schedule fails before it counts: its third failure in a row. */
const FAILING_TASK_MS = 19 * MINUTE_MS;

export type HealthStatus = "ok" | "warning";

/** The reason of a figure whose setting is missing. It is unknown, and not a warning. */
const NOT_SET = "metrics_not_set";

/** One figure. `value` is null if it is unknown, which is a warning unless it is not set; `reason` then says why. */
export interface Figure {
  readonly name: FigureName;
  readonly status: HealthStatus;
  readonly value: number | null;
  /** The highest value that is fine; null: none. */
  readonly limit: number | null;
  readonly unit: string;
  /** The time of the newest failure or run that the figure counts; null: none. */
  readonly newest_at_ms: number | null;
  /** Why the value is unknown, or the reason of the newest failure. */
  readonly reason: string | null;
}

/** One task of the schedule, as its last run left it. */
export interface ScheduledTask {
  readonly task: string;
  readonly ended_at_ms: number;
  /** Since when every run of it has failed; null: the last run succeeded. */
  readonly failing_since_ms: number | null;
  /** The kind of the last error; null: the last run succeeded. */
  readonly reason: string | null;
}

/** An app's starter grants of today, in credits. */
export interface UsedBudget {
  readonly app_slug: string;
  readonly used: number;
  readonly limit: number;
  /** Whether today's budget has too few credits for another grant. */
  readonly is_used_up: boolean;
}

/** A webhook whose last delivery failed. */
export interface FailingWebhook {
  readonly app_slug: string;
  readonly id: string;
  readonly failing_since_ms: number;
}

/** How long a receiver may fail before operators are warned: a restart or a deployment takes less. */
const WEBHOOK_FAILING_MS = 60 * MINUTE_MS;

/** A webhook whose receiver accepted nothing. */
export interface PausedWebhook {
  readonly app_slug: string;
  readonly id: string;
  readonly paused_at_ms: number;
}

/** An account that uses at least half of its storage. */
export interface FillingAccount {
  readonly account_id: string;
  readonly storage_percent: number;
}

/** Accounts that a figure names. */
const NAMED_ACCOUNTS = 5;

/** Why a part is unknown. */
export type Unreadable = "directory_unreadable" | "read_model_unreadable" | "metrics_unreadable";

/** The figures of a store's part, or the reason why they are unknown. */
export type Part<Value> = { readonly known: Value } | { readonly unreadable: Unreadable };

export interface HealthParts {
  /** Null: the metrics of requests are not set. */
  readonly traffic: Part<readonly Traffic[]> | null;
  /** The sizes of the databases in bytes, by binding. */
  readonly database_bytes: Part<Readonly<Record<"DIRECTORY" | "DB", number>>>;
  readonly failures: Part<Readonly<Partial<Record<FailureKind, CountedFailures>>>>;
  /** The last finished run of the schedule, and its tasks; null: it has not run yet. */
  readonly schedule: Part<{
    readonly ended_at_ms: number;
    readonly tasks: readonly ScheduledTask[];
  } | null>;
  readonly budgets: Part<readonly UsedBudget[]>;
  readonly paused_webhooks: Part<readonly PausedWebhook[]>;
  /** Active webhooks whose last delivery failed, those that fail for the longest time first. */
  readonly failing_webhooks: Part<readonly FailingWebhook[]>;
  /** Accounts that used at least half of their storage when they last wrote to the archive, the fullest first. */
  readonly filling_accounts: Part<readonly FillingAccount[]>;
  /** Since when the oldest change of a person waits for its copy; null: none waits. */
  readonly people_waiting_since_ms: Part<number | null>;
  /** When the newest copy of the directory was complete; null: no copy was completed yet. */
  readonly directory_copied_at_ms: Part<number | null>;
  /** When the present comparison of all accounts began; null: none has begun. */
  readonly comparison_began_at_ms: Part<number | null>;
  /** Settled credits of the UTC day. */
  readonly spent_today: Part<number>;
  /** Null: no limit. */
  readonly spend_limit: number | null;
}

type Measured = Partial<Pick<Figure, "value" | "limit" | "newest_at_ms" | "reason">>;

/** The figures of all parts, in the order of {@link FIGURES}. */
export function figuresOf(parts: HealthParts, now_ms: number): readonly Figure[] {
  const measured: Readonly<Record<FigureName, Measured>> = {
    ...trafficMeasures(parts.traffic),
    ...failureFigures(parts.failures),
    failed_requests: failedRequests(parts),
    database_size: measure(parts.database_bytes, databaseSize),
    ...scheduleFigures(parts.schedule, now_ms),
    comparison_age: measure(parts.comparison_began_at_ms, (began_at_ms) => ({
      value: seconds(now_ms - (began_at_ms ?? now_ms)),
    })),
    people_waiting: measure(parts.people_waiting_since_ms, (since_ms) => ({
      value: seconds(now_ms - (since_ms ?? now_ms)),
    })),
    directory_copy_age: measure(parts.directory_copied_at_ms, (newest_at_ms) =>
      newest_at_ms === null
        ? { value: null, reason: "not_run_yet" }
        : { value: seconds(now_ms - newest_at_ms), newest_at_ms },
    ),
    half_full_accounts: measure(parts.filling_accounts, countFrom(STORAGE_HALF_PERCENT)),
    filling_accounts: measure(parts.filling_accounts, countFrom(STORAGE_FILLING_PERCENT)),
    paused_webhooks: measure(parts.paused_webhooks, (paused) => {
      const [newest_at_ms = null] = paused.map((it) => it.paused_at_ms).toSorted((a, b) => b - a);
      const reason = paused.map(({ app_slug, id }) => `${app_slug}/${id}`).join(", ");
      return { value: paused.length, newest_at_ms, reason: reason === "" ? null : reason };
    }),
    failing_webhooks: measure(parts.failing_webhooks, (webhooks) => {
      const failing = webhooks.filter((it) => now_ms - it.failing_since_ms >= WEBHOOK_FAILING_MS);
      const reason = failing.map(({ app_slug, id }) => `${app_slug}/${id}`).join(", ");
      return { value: failing.length, reason: reason === "" ? null : reason };
    }),
    used_up_budgets: measure(parts.budgets, (budgets) => {
      const used_up = budgets.filter(({ is_used_up }) => is_used_up);
      const reason = used_up.map(({ app_slug }) => app_slug).join(", ");
      return { value: used_up.length, reason: reason === "" ? null : reason };
    }),
    spent_today: measure(parts.spent_today, (value) => ({ value, limit: parts.spend_limit })),
  };
  return FIGURE_NAMES.map((name) => judge(name, measured[name]));
}

/** The figures of the traffic only. */
export function trafficFigures(traffic: Part<readonly Traffic[]>): readonly Figure[] {
  const measured = trafficMeasures(traffic);
  return TRAFFIC_FIGURES.map((name) => judge(name, measured[name]));
}

function trafficMeasures(
  traffic: HealthParts["traffic"],
): Readonly<Record<(typeof TRAFFIC_FIGURES)[number], Measured>> {
  if (traffic !== null && "known" in traffic) return trafficShares(traffic.known);
  const unknown = { value: null, reason: traffic === null ? NOT_SET : traffic.unreadable };
  return { fast_burn: unknown, slow_burn: unknown, limited_requests: unknown };
}

/** Where ratios are known, an absolute number of failures wakes nobody. No requests at all: the binding `METRICS` is missing. */
function failedRequests({ failures, traffic }: HealthParts): Measured {
  const counted = countOf(failures, "failed_request");
  const is_seen = traffic !== null && "known" in traffic && traffic.known.length > 0;
  return is_seen ? { ...counted, limit: null } : counted;
}

function databaseSize(bytes: Readonly<Record<string, number>>): Measured {
  const percents = Object.entries(bytes).map(
    ([binding, size]) => [binding, Math.round((100 * size) / D1_MAX_BYTES)] as const,
  );
  const reason = percents.map(([binding, percent]) => `${binding} ${percent}%`).join(", ");
  return { value: Math.max(...percents.map(([, percent]) => percent)), reason };
}

/** Counts accounts that use at least this share of their storage, and names the fullest. */
const countFrom =
  (percent: number) =>
  (accounts: readonly FillingAccount[]): Measured => {
    const found = accounts.filter(({ storage_percent }) => storage_percent >= percent);
    const named = found
      .slice(0, NAMED_ACCOUNTS)
      .map(({ account_id, storage_percent }) => `${account_id} ${storage_percent}%`);
    return { value: found.length, reason: named.length === 0 ? null : named.join(", ") };
  };

function judge(name: FigureName, measured: Measured): Figure {
  const { unit, limit: usual_limit } = FIGURES[name];
  const { value = null, limit = usual_limit, newest_at_ms = null, reason = null } = measured;
  const is_fine = value === null ? reason === NOT_SET : limit === null || value <= limit;
  return { name, status: is_fine ? "ok" : "warning", value, limit, unit, newest_at_ms, reason };
}

function measure<Value>(part: Part<Value>, measured: (value: Value) => Measured): Measured {
  return "known" in part ? measured(part.known) : { value: null, reason: part.unreadable };
}

const failuresOf = (
  part: HealthParts["failures"],
  kind: FailureKind,
  value: (counted: CountedFailures) => number,
): Measured =>
  measure(part, ({ [kind]: counted }) => {
    if (counted === undefined) return { value: 0 };
    const { newest_at_ms, reason } = counted;
    return { value: value(counted), newest_at_ms, reason };
  });

const countOf = (part: HealthParts["failures"], kind: FailureKind): Measured =>
  failuresOf(part, kind, ({ count }) => count);

const waitOf = (part: HealthParts["failures"], kind: FailureKind): Measured =>
  failuresOf(part, kind, ({ newest_at_ms, oldest_at_ms }) => seconds(newest_at_ms - oldest_at_ms));

function failureFigures(part: HealthParts["failures"]) {
  return {
    read_model_lag: waitOf(part, "failed_delivery"),
    failed_deliveries: countOf(part, "failed_delivery"),
    archive_failing: waitOf(part, "failed_archive"),
    differences: countOf(part, "difference"),
    overdue_jobs: waitOf(part, "overdue_job"),
    failed_payment_events: countOf(part, "failed_payment_event"),
    payments_not_booked: countOf(part, "payment_not_booked"),
    failed_top_ups: countOf(part, "failed_top_up"),
    dropped_payment_events: countOf(part, "dropped_payment_event"),
  };
}

function scheduleFigures(part: HealthParts["schedule"], now_ms: number) {
  return {
    schedule_age: measure(part, (schedule) => {
      if (schedule === null) return { value: null, reason: "not_run_yet" };
      const { ended_at_ms } = schedule;
      return { value: seconds(now_ms - ended_at_ms), newest_at_ms: ended_at_ms };
    }),
    failing_tasks: measure(part, (schedule) => {
      const failing = (schedule?.tasks ?? []).filter(
        ({ failing_since_ms, ended_at_ms }) =>
          failing_since_ms !== null && ended_at_ms - failing_since_ms >= FAILING_TASK_MS,
      );
      const reason = failing.map(({ task }) => task).join(", ");
      return { value: failing.length, reason: reason === "" ? null : reason };
    }),
  };
}

const seconds = (ms: number): number => Math.max(0, Math.round(ms / 1000));

/** An app's budget of a day, and its starter grants of that day so far, all in credits. */
export function usedBudget(app: {
  readonly app_slug: string;
  readonly starter_credits: number;
  readonly used: number;
  readonly limit: number;
}): UsedBudget {
  const { app_slug, starter_credits, used, limit } = app;
  return {
    app_slug,
    used,
    limit,
    is_used_up: starter_credits > 0 && used + starter_credits > limit,
  };
}
