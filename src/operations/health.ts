/**
 * Reads the service's health for operators. A store that does not respond makes its figures unknown, and the others are
 * still read.
 */
import { utcDayOf } from "../domain/calendar.ts";
import type { Traffic } from "../domain/error_budget.ts";
import {
  figuresOf,
  trafficFigures,
  usedBudget,
  type CountedFailures,
  type FailureKind,
  type FailingWebhook,
  type FillingAccount,
  type Figure,
  type HealthParts,
  type HealthStatus,
  type Part,
  type PausedWebhook,
  type ScheduledTask,
  type Unreadable,
  type UsedBudget,
} from "../domain/health.ts";
import { reportError } from "../domain/error_report.ts";
import { withinMs } from "./time_limit.ts";

/** How long one read may take. The console's first page waits for the slowest. */
const HEALTH_READ_TIMEOUT_MS = 3_000;

/** Apps whose budgets are read: many more than a family of apps has. */
const BUDGETS_READ_MAX = 200;

interface HealthSources {
  /** Null: the metrics of requests are not set. */
  readonly readTraffic: ReadTraffic | null;
  /** The sizes of the databases in bytes. */
  readonly sizeOf: Readonly<Record<"directory" | "read_model", () => Promise<number>>>;
  readonly readFailures: (
    now_ms: number,
  ) => Promise<Readonly<Partial<Record<FailureKind, CountedFailures>>>>;
  readonly readSchedule: () => Promise<{
    readonly ended_at_ms: number;
    readonly tasks: readonly ScheduledTask[];
  } | null>;
  readonly listApps: (limit: number) => Promise<readonly AppBudget[]>;
  /** Starter credits that apps granted on a day, by slug. */
  readonly readGranted: (
    day: number,
    app_slugs: readonly string[],
  ) => Promise<ReadonlyMap<string, number>>;
  readonly listPausedWebhooks: () => Promise<readonly PausedWebhook[]>;
  readonly listFailingWebhooks: (limit: number) => Promise<readonly FailingWebhook[]>;
  readonly readCopied: (now_ms: number) => Promise<number | null>;
  readonly readPeopleWaiting: () => Promise<number | null>;
  readonly readComparisonBegin: () => Promise<number | null>;
  readonly listFilling: (limit: number) => Promise<readonly FillingAccount[]>;
  /** Settled credits of a day. */
  readonly readSpent: (day: number) => Promise<number>;
  readonly spend_limit: number | null;
}

export type ReadTraffic = (now_ms: number) => Promise<readonly Traffic[]>;

interface AppBudget {
  readonly slug: string;
  readonly starter_credits: number;
  readonly daily_starter_budget: number | null;
}

/** Failing webhooks that a figure counts. */
const FAILING_WEBHOOKS_READ_MAX = 100;

/** Accounts with much storage that two figures count. */
const FILLING_ACCOUNTS_READ_MAX = 1_000;

export interface Health {
  readonly status: HealthStatus;
  readonly read_at_ms: number;
  readonly figures: readonly Figure[];
  /** Null: unknown. */
  readonly tasks: readonly ScheduledTask[] | null;
  readonly budgets: readonly UsedBudget[] | null;
}

export type ReadHealth = () => Promise<Health>;

/** Never throws. */
export function createHealth(sources: HealthSources): ReadHealth {
  return async () => {
    const now_ms = Date.now();
    const [traffic, database_bytes] = [readTraffic(sources, now_ms), readSizes(sources)];
    const [failures, schedule, budgets, paused_webhooks, failing_webhooks, filling, ...rest] =
      await Promise.all([
        read("directory_unreadable", sources.readFailures(now_ms)),
        read("directory_unreadable", sources.readSchedule()),
        readBudgets(sources, utcDayOf(now_ms)),
        read("directory_unreadable", sources.listPausedWebhooks()),
        read("directory_unreadable", sources.listFailingWebhooks(FAILING_WEBHOOKS_READ_MAX)),
        read("read_model_unreadable", sources.listFilling(FILLING_ACCOUNTS_READ_MAX)),
        read("read_model_unreadable", sources.readComparisonBegin()),
        read("read_model_unreadable", sources.readSpent(utcDayOf(now_ms))),
        read("directory_unreadable", sources.readPeopleWaiting()),
        read("directory_unreadable", sources.readCopied(now_ms)),
      ]);
    const [comparison_began_at_ms, spent_today, people_waiting_since_ms, directory_copied_at_ms] =
      rest;
    const { spend_limit } = sources;
    const webhooks = { paused_webhooks, failing_webhooks };
    const parts: HealthParts = {
      traffic: await traffic,
      database_bytes: await database_bytes,
      failures,
      schedule,
      budgets,
      ...webhooks,
      filling_accounts: filling,
      comparison_began_at_ms,
      people_waiting_since_ms,
      directory_copied_at_ms,
      spent_today,
      spend_limit,
    };
    const figures = figuresOf(parts, now_ms);
    const is_fine = figures.every(({ status }) => status === "ok");
    return {
      status: is_fine ? "ok" : "warning",
      read_at_ms: now_ms,
      figures,
      tasks: "known" in schedule ? (schedule.known?.tasks ?? []) : null,
      budgets: "known" in budgets ? budgets.known : null,
    };
  };
}

/** The figures of the traffic, for the check of each minute. Never throws. */
export async function readTrafficFigures(
  source: ReadTraffic,
): Promise<Pick<Health, "figures" | "read_at_ms">> {
  const read_at_ms = Date.now();
  const traffic = await read("metrics_unreadable", source(read_at_ms));
  return { figures: trafficFigures(traffic), read_at_ms };
}

async function readTraffic(
  { readTraffic: source }: HealthSources,
  now_ms: number,
): Promise<HealthParts["traffic"]> {
  return source === null ? null : read("metrics_unreadable", source(now_ms));
}

async function readSizes({ sizeOf }: HealthSources): Promise<HealthParts["database_bytes"]> {
  const [directory, read_model] = await Promise.all([
    read("directory_unreadable", sizeOf.directory()),
    read("read_model_unreadable", sizeOf.read_model()),
  ]);
  if ("unreadable" in directory) return directory;
  if ("unreadable" in read_model) return read_model;
  return { known: { DIRECTORY: directory.known, DB: read_model.known } };
}

async function readBudgets(
  { listApps, readGranted }: HealthSources,
  day: number,
): Promise<Part<readonly UsedBudget[]>> {
  const listed = await read("directory_unreadable", listApps(BUDGETS_READ_MAX));
  if ("unreadable" in listed) return listed;
  const limited = listed.known.flatMap(({ daily_starter_budget: limit, ...app }) =>
    limit === null ? [] : [{ ...app, limit }],
  );
  if (limited.length === 0) return { known: [] };
  const slugs = limited.map(({ slug }) => slug);
  const granted = await read("read_model_unreadable", readGranted(day, slugs));
  if ("unreadable" in granted) return granted;
  return {
    known: limited.map(({ slug, starter_credits, limit }) => {
      const used = granted.known.get(slug) ?? 0;
      return usedBudget({ app_slug: slug, starter_credits, used, limit });
    }),
  };
}

/** The size of a database, which D1 returns with each query. @throws if D1 cannot be reached */
export async function databaseBytes(database: D1Database): Promise<number> {
  const { meta } = await database.prepare("select 1").run();
  return meta.size_after;
}

async function read<Value>(unreadable: Unreadable, reading: Promise<Value>): Promise<Part<Value>> {
  try {
    return { known: await withinMs(HEALTH_READ_TIMEOUT_MS, reading) };
  } catch (error) {
    console.error({ event: "health_unreadable", part: unreadable, ...reportError(error) });
    return { unreadable };
  }
}
