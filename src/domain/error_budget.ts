/**
 * The objectives of the service (docs/alerts.md), and how fast failed requests use up what they allow. Pure.
 *
 * The burn rates and windows are those of Google's Site Reliability Workbook, chapter 5, "Multiwindow, Multi-Burn-Rate Alerts".
 */

const MINUTE_MS = 60_000;

/** The cron of the check of each minute in wrangler.toml. The other one is that of the schedule. */
export const EACH_MINUTE = "* * * * *";

/** The windows in which requests are counted, in the order of {@link Traffic}. */
export const TRAFFIC_WINDOWS_MS = [5, 30, 60, 360].map((minutes) => minutes * MINUTE_MS);
const [FIVE_MINUTES, HALF_HOUR, HOUR, SIX_HOURS] = [0, 1, 2, 3] as const;

/**
 * The share of requests that must not fail, and how their routes begin. A request belongs to the first service that has its route.
 * `other` has no promise: the same ratio shows that pages or the console fail.
 */
export const OBJECTIVES = {
  wallet_and_jobs: { target: 0.9995, routes: ["/api/wallet", "/api/jobs", "/api/ledger"] },
  signin: {
    target: 0.999,
    routes: ["/signin", "/oauth/", "/device", "/api/device", "/api/sessionToken"],
  },
  other: { target: 0.999, routes: [] },
} as const;

export type ServiceName = keyof typeof OBJECTIVES;
export const SERVICE_NAMES = Object.keys(OBJECTIVES) as readonly ServiceName[];

/** Burn rate 1 uses up a budget in exactly 30 days. Both windows must burn, so that a warning ends soon after its cause. */
const BURN_RATES = {
  /** 14.4 for an hour is 2% of the budget. */
  fast_burn: { long: HOUR, short: FIVE_MINUTES },
  /** 6 for six hours is 5% of the budget. */
  slow_burn: { long: SIX_HOURS, short: HALF_HOUR },
} as const;

/** Fewer failures wake nobody: with little traffic, a single one is a large share. */
const FAILED_MIN = 20;
/** Fewer 429 wake nobody, for the same reason. */
const LIMITED_MIN = 100;

/** The requests of one service, release and app, in each window of {@link TRAFFIC_WINDOWS_MS}. */
export interface Traffic {
  readonly service: ServiceName;
  readonly release: string | null;
  readonly app: string | null;
  readonly requests: readonly number[];
  /** Status 5xx, except 507, which one account or token causes. */
  readonly failed: readonly number[];
  /** Status 429 in the last hour. */
  readonly limited: number;
}

interface Share {
  readonly value: number;
  readonly reason: string | null;
}

/** The figures of traffic. A rate is that of the service with the highest one; the reason names what failed most. */
export function trafficShares(
  traffic: readonly Traffic[],
): Readonly<Record<"fast_burn" | "slow_burn" | "limited_requests", Share>> {
  return {
    fast_burn: burn(traffic, BURN_RATES.fast_burn),
    slow_burn: burn(traffic, BURN_RATES.slow_burn),
    limited_requests: limitedShare(traffic),
  };
}

function burn(traffic: readonly Traffic[], windows: { long: number; short: number }): Share {
  const burning = SERVICE_NAMES.map((service) => {
    const own = traffic.filter((it) => it.service === service);
    const failedIn = (window: number) => sum(own, ({ failed }) => failed[window] ?? 0);
    const rateIn = (window: number) =>
      failedIn(window) /
      Math.max(
        sum(own, ({ requests }) => requests[window] ?? 0),
        1,
      ) /
      (1 - OBJECTIVES[service].target);
    const is_few = failedIn(windows.long) <= FAILED_MIN;
    const value = is_few ? 0 : rounded(Math.min(rateIn(windows.long), rateIn(windows.short)));
    const most = mostOf(own, ({ failed }) => failed[windows.long] ?? 0);
    return { value, reason: `${service} ${value} times: ${most}` };
  }).filter(({ value }) => value > 0);
  const worst_first = burning.toSorted((one, other) => other.value - one.value);
  const reason = worst_first.map((it) => it.reason).join("; ");
  return { value: worst_first[0]?.value ?? 0, reason: reason === "" ? null : reason };
}

function limitedShare(traffic: readonly Traffic[]): Share {
  const limited = sum(traffic, (it) => it.limited);
  if (limited <= LIMITED_MIN) return { value: 0, reason: null };
  const all = sum(traffic, ({ requests }) => requests[HOUR] ?? 0);
  const value = rounded((100 * limited) / Math.max(all, 1));
  return { value, reason: mostOf(traffic, (it) => it.limited) };
}

/** The release and the app with the largest part of a sum. */
function mostOf(traffic: readonly Traffic[], of: (it: Traffic) => number): string {
  const all = sum(traffic, of);
  return (["release", "app"] as const)
    .map((name) => {
      const parts = [...Map.groupBy(traffic, (it) => it[name])].map(
        ([value, its]) => [value, sum(its, of)] as const,
      );
      const [[value, part] = [null, 0]] = parts.toSorted(([, one], [, other]) => other - one);
      return `${name} ${value ?? "unknown"} (${Math.round((100 * part) / Math.max(all, 1))}%)`;
    })
    .join(", ");
}

const sum = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((total, item) => total + of(item), 0);

const rounded = (value: number): number => Math.round(10 * value) / 10;
