/** The data points of a local service, which has no store for them: the newest stay in memory. */
import {
  REMEMBERED_MAX,
  REQUESTS_MAX,
  ROUTES_MAX,
  type RequestFilter,
  type RequestMetrics,
  type RequestPoint,
  type RequestReader,
  type RequestSums,
  type RouteSums,
} from "../domain/request_metrics.ts";

export function createRememberedRequests(): RequestMetrics & RequestReader {
  const points: RequestPoint[] = [];
  const since = (since_ms: number) => points.filter(({ at_ms }) => at_ms >= since_ms);
  return {
    source: "memory",
    readTraffic: null,
    record(point) {
      points.push(point);
      if (points.length > REMEMBERED_MAX) points.shift();
    },
    readSums: async (since_ms) => sumsOf(since(since_ms)),
    listRoutes: async (since_ms) =>
      [...Map.groupBy(since(since_ms), ({ method, route }) => `${method} ${route}`).values()]
        .flatMap(routeSums)
        .toSorted((one, other) => other.p95_ms - one.p95_ms)
        .slice(0, ROUTES_MAX),
    list: async (filter) =>
      points
        .filter((point) => isWanted(point, filter))
        .toReversed()
        .slice(0, REQUESTS_MAX),
  };
}

function sumsOf(points: readonly RequestPoint[]): RequestSums {
  return {
    requests: points.length,
    failed: points.filter(({ status }) => status >= 500).length,
    limited: points.filter(({ status }) => status === 429).length,
  };
}

function routeSums(points: readonly RequestPoint[]): RouteSums[] {
  const [first] = points;
  if (first === undefined) return [];
  const durations = points.map(({ duration_ms }) => duration_ms).toSorted((one, two) => one - two);
  const at = (share: number) => durations[Math.ceil(share * durations.length) - 1] ?? 0;
  const { method, route } = first;
  return [{ method, route, ...sumsOf(points), p50_ms: at(0.5), p95_ms: at(0.95) }];
}

function isWanted(point: RequestPoint, { from_ms, to_ms, ...filter }: RequestFilter): boolean {
  const { request_id, accounts, app } = filter;
  const named = [request_id, accounts, app].some((it) => it !== undefined);
  return (
    (request_id ?? point.request_id) === point.request_id &&
    (accounts === undefined || (point.account !== null && accounts.includes(point.account))) &&
    (app ?? point.app) === point.app &&
    point.at_ms >= (from_ms ?? 0) &&
    point.at_ms < (to_ms ?? Number.POSITIVE_INFINITY) &&
    (named || point.status >= 500)
  );
}
