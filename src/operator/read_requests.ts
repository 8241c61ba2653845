/** The service's traffic: rates, the slowest routes, and requests that failed or that an operator looks for. */
import * as z from "zod/mini";
import { accepted, refused } from "../domain/result.ts";
import { timestamp } from "../domain/wire.ts";
import { appSlug, dateTime, queryText } from "../fields.ts";
import {
  MetricsUnreadable,
  METRICS_DAY_MS,
  METRICS_HOUR_MS,
  type RequestPoint,
} from "../domain/request_metrics.ts";
import type { OperatorServices } from "./acting.ts";
import { resolveFilter } from "./find_person.ts";

/** How far back requests are looked for if the query does not say. */
const LOOKED_BACK_MS = 7 * METRICS_DAY_MS;

export const listRequestsQuery = z.object({
  request_id: z.optional(
    queryText.check(z.trim(), z.regex(/^[\w-]{1,64}$/, "must be the id of a request")),
  ),
  account: z.optional(queryText.check(z.trim(), z.minLength(1), z.maxLength(254))),
  app: z.optional(appSlug),
  from: z.optional(dateTime),
  to: z.optional(dateTime),
});

type RequestsQuery = z.output<typeof listRequestsQuery>;

function requestView({ at_ms, ...point }: RequestPoint) {
  return { at: timestamp(at_ms), ...point };
}

/**
 * Rates of the last hour and day, the routes of the last hour, and the newest requests of the query; without a filter, those that
 * failed. Refused as `not_found` if the service has none, and as `metrics_unavailable` if they cannot be read now.
 */
export async function readRequests(
  { requests, identity, pseudonymsOf }: OperatorServices,
  query: RequestsQuery,
) {
  if (requests === null) return refused({ code: "not_found", missing: "metrics" } as const);
  const named = await resolveFilter(identity, query.account);
  if (!named.ok) return named;
  const accounts = named.value === undefined ? undefined : await pseudonymsOf(named.value);
  const now_ms = Date.now();
  const { request_id, app, from = now_ms - LOOKED_BACK_MS, to } = query;
  const filter = { request_id, accounts, app, from_ms: from, to_ms: to };
  try {
    const [hour, day, routes, found] = await Promise.all([
      requests.readSums(now_ms - METRICS_HOUR_MS),
      requests.readSums(now_ms - METRICS_DAY_MS),
      requests.listRoutes(now_ms - METRICS_HOUR_MS),
      requests.list(filter),
    ]);
    const { source } = requests;
    return accepted({ source, hour, day, routes, requests: found.map(requestView) });
  } catch (error) {
    if (!(error instanceof MetricsUnreadable)) throw error;
    return refused({ code: "metrics_unavailable" } as const);
  }
}
