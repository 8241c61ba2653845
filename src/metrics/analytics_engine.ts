/**
 * Data points in Cloudflare's Workers Analytics Engine. A Worker writes them by a binding, and reads them by SQL over HTTP with
 * a token. docs/metrics.md has queries for them.
 */
import * as z from "zod/mini";
import { requestUpstream, UpstreamFailure } from "../oauth/ask.ts";
import { OBJECTIVES, SERVICE_NAMES, TRAFFIC_WINDOWS_MS } from "../domain/error_budget.ts";
import {
  MetricsUnreadable,
  REQUESTS_MAX,
  ROUTES_MAX,
  type MetricsAccess,
  type RequestFilter,
  type RequestMetrics,
  type RequestPoint,
  type RequestReader,
} from "../domain/request_metrics.ts";

/** The binding METRICS. */
export interface MetricsDataset {
  writeDataPoint(point: {
    readonly indexes: string[];
    readonly blobs: string[];
    readonly doubles: number[];
  }): void;
}

export function createAnalyticsEngine(dataset: MetricsDataset): RequestMetrics {
  return {
    record({ status, duration_ms, at_ms, account_calls, ...texts }) {
      // A busy route is sampled, and a rare one is not. The platform adds the time.
      dataset.writeDataPoint({
        indexes: [texts.route ?? ""],
        blobs: COLUMNS.map((name) => texts[name] ?? ""),
        doubles: [status, duration_ms, at_ms, account_calls],
      });
    },
  };
}

/** The texts of a data point in the order of the columns `blob1`, `blob2` … */
const COLUMNS = [
  "request_id",
  "method",
  "route",
  "code",
  "app",
  "caller",
  "account",
  "release",
  "colo",
] as const satisfies readonly (keyof RequestPoint)[];

const column = (name: (typeof COLUMNS)[number]): string => `blob${COLUMNS.indexOf(name) + 1}`;
const STATUS = "double1";
const DURATION = "double2";
const AT = "double3";
const ACCOUNT_CALLS = "double4";

/** A count may be text, because it has 64 bits. Null is the sum of nothing. */
const count = z.pipe(
  z.pipe(z.union([z.number(), z.string(), z.null()]), z.transform(Number)),
  z.number(),
);
/** A text that is not known is stored as an empty one. */
const text = z.pipe(
  z.string(),
  z.transform((read) => (read === "" ? null : read)),
);

const sums = { requests: count, failed: count, limited: count };
const sums_row = z.object(sums);
const route_row = z.object({
  ...sums,
  method: z.string(),
  route: text,
  p50_ms: count,
  p95_ms: count,
});
const point_row = z.object({
  request_id: z.string(),
  method: z.string(),
  route: text,
  code: text,
  app: text,
  caller: text,
  account: text,
  release: text,
  colo: text,
  status: count,
  duration_ms: count,
  account_calls: count,
  at_ms: count,
});

/** The other columns are the counts of the windows. */
const traffic_row = z.catchall(
  z.object({ service: z.enum(SERVICE_NAMES), release: text, app: text, limited: count }),
  count,
);

const SUMS = `sum(_sample_interval) as requests,
  sum(if(${STATUS} >= 500, _sample_interval, 0)) as failed,
  sum(if(${STATUS} = 429, _sample_interval, 0)) as limited`;

const quantile = (share: number): string =>
  `quantileExactWeighted(${share})(${DURATION}, _sample_interval)`;

export function createMetricsReader(access: MetricsAccess): RequestReader {
  const query = <Row extends z.ZodMiniType>(
    row: Row,
    select: string,
    where: string,
    rest = "",
  ): Promise<readonly z.output<Row>[]> =>
    run(access, row, `select ${select} from ${access.dataset} where ${where} ${rest} format JSON`);
  return {
    source: "metrics",
    async readSums(since_ms) {
      const [row] = await query(sums_row, SUMS, since(since_ms));
      return row ?? { requests: 0, failed: 0, limited: 0 };
    },
    async readTraffic(now_ms) {
      const rows = await query(
        traffic_row,
        `${SERVICE} as service, ${column("release")} as release, ${column("app")} as app, ${trafficSums(now_ms)}`,
        since(now_ms - Math.max(...TRAFFIC_WINDOWS_MS)),
        `group by service, release, app limit ${TRAFFIC_ROWS_MAX}`,
      );
      return rows.map(({ service, release, app, limited, ...counts }) => {
        const inEach = (name: string) =>
          TRAFFIC_WINDOWS_MS.map((_, at) => counts[`${name}_${at}`] ?? 0);
        const [requests, failed] = [inEach("requests"), inEach("failed")];
        return { service, release, app, limited, requests, failed };
      });
    },
    listRoutes: (since_ms) =>
      query(
        route_row,
        `${column("method")} as method, ${column("route")} as route, ${SUMS},
         ${quantile(0.5)} as p50_ms, ${quantile(0.95)} as p95_ms`,
        since(since_ms),
        `group by method, route order by p95_ms desc limit ${ROUTES_MAX}`,
      ),
    list: (filter) =>
      query(
        point_row,
        `${COLUMNS.map((name) => `${column(name)} as ${name}`).join(", ")}, ${STATUS} as status, ${DURATION} as duration_ms, ${ACCOUNT_CALLS} as account_calls, ${AT} as at_ms`,
        wanted(filter),
        `order by at_ms desc limit ${REQUESTS_MAX}`,
      ),
  };
}

/** Releases and apps with traffic: far more than a service has. */
const TRAFFIC_ROWS_MAX = 5_000;

/** The service of a route. */
const SERVICE = SERVICE_NAMES.toReversed().reduce((rest, name) => {
  const begins = OBJECTIVES[name].routes.map((route) => `${column("route")} like '${route}%'`);
  return begins.length === 0 ? `'${name}'` : `if(${begins.join(" or ")}, '${name}', ${rest})`;
}, "''");

/** The sums of each window. */
function trafficSums(now_ms: number): string {
  const summed = (condition: string, name: string) =>
    `sum(if(${condition}, _sample_interval, 0)) as ${name}`;
  const [, , hour_ms = 0] = TRAFFIC_WINDOWS_MS;
  return [
    ...TRAFFIC_WINDOWS_MS.flatMap((window_ms, at) => [
      summed(since(now_ms - window_ms), `requests_${at}`),
      // 507 is the limit of one account or token, as 429 is.
      summed(
        `${STATUS} >= 500 and ${STATUS} != 507 and ${since(now_ms - window_ms)}`,
        `failed_${at}`,
      ),
    ]),
    summed(`${STATUS} = 429 and ${since(now_ms - hour_ms)}`, "limited"),
  ].join(", ");
}

/** By the column with the platform's time, by which the data is stored, and by our own to the millisecond. */
function since(since_ms: number): string {
  return `timestamp >= toDateTime(${Math.floor(since_ms / 1000)}) and ${AT} >= ${since_ms}`;
}

function wanted({ from_ms = 0, to_ms, ...filter }: RequestFilter): string {
  const { request_id, accounts, app } = filter;
  const among = (name: (typeof COLUMNS)[number], values: readonly string[] | undefined) =>
    values === undefined ? [] : [`${column(name)} in (${values.map(quoted).join(", ")})`];
  const named = [
    ...among("request_id", request_id === undefined ? undefined : [request_id]),
    ...among("account", accounts),
    ...among("app", app === undefined ? undefined : [app]),
  ];
  return [
    since(from_ms),
    ...(to_ms === undefined ? [] : [`${AT} < ${to_ms}`]),
    ...(named.length === 0 ? [`${STATUS} >= 500`] : named),
  ].join(" and ");
}

/** The callers accept only these characters (`operator/read_requests.ts`); the rest cannot leave the quotes. */
function quoted(value: string): string {
  return `'${value.replaceAll(/[^\w.:~-]/g, "")}'`;
}

/** An undocumented response is as good as none. @throws MetricsUnreadable */
async function run<Row extends z.ZodMiniType>(
  { api_url, account_id, token }: MetricsAccess,
  row: Row,
  body: string,
): Promise<readonly z.output<Row>[]> {
  const sent = requestUpstream(`${api_url}/client/v4/accounts/${account_id}/analytics_engine/sql`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body,
  });
  const response = await sent.catch((error: unknown) => {
    if (error instanceof UpstreamFailure) return null;
    throw error;
  });
  const read = z.object({ data: z.array(row) }).safeParse(contentOf(response?.text ?? ""));
  if (response?.status === 200 && read.success) return read.data.data;
  console.warn({ event: "metrics_unreadable", status: response?.status ?? null });
  throw new MetricsUnreadable();
}

function contentOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
