/** One data point a request: what operators see of the service's traffic. It names no person and contains no input. */

import type { Traffic } from "./error_budget.ts";

/** A request that was responded to. Texts that are not known are null. */
export interface RequestPoint {
  readonly at_ms: number;
  readonly request_id: string;
  readonly method: string;
  /** The pattern of the route, such as `/api/jobs/:id`. */
  readonly route: string | null;
  readonly status: number;
  /** The code of the refusal, or of OAuth's `error`. */
  readonly code: string | null;
  /** The registered app. */
  readonly app: string | null;
  /** The kind of caller. */
  readonly caller: string | null;
  /** The account's pseudonym in logs. */
  readonly account: string | null;
  /** The version of the Worker. */
  readonly release: string | null;
  /** Cloudflare's location. */
  readonly colo: string | null;
  /** Time spent waiting. Cloudflare stops the clock while the Worker computes. */
  readonly duration_ms: number;
  /** Calls of accounts' objects. */
  readonly account_calls: number;
}

/** The requests of a time. `failed`: 5xx; `limited`: 429. */
export interface RequestSums {
  readonly requests: number;
  readonly failed: number;
  readonly limited: number;
}

/** The requests of a route in the last hour, with the median and the 95th percentile of their durations. */
export interface RouteSums extends RequestSums {
  readonly method: string;
  readonly route: string | null;
  readonly p50_ms: number;
  readonly p95_ms: number;
}

/** Which requests are wanted, at most {@link REQUESTS_MAX}. Without any field, those that failed. */
export interface RequestFilter {
  readonly request_id?: string | undefined;
  /** The pseudonyms of an account, one for each signing key. */
  readonly accounts?: readonly string[] | undefined;
  readonly app?: string | undefined;
  readonly from_ms?: number | undefined;
  /** Excluded. */
  readonly to_ms?: number | undefined;
}

/** Requests of one list, the newest, and routes: those with the highest 95th percentile. */
export const REQUESTS_MAX = 100;
export const ROUTES_MAX = 20;

export const METRICS_HOUR_MS = 3_600_000;
export const METRICS_DAY_MS = 24 * METRICS_HOUR_MS;

/** Where data points go. */
export interface RequestMetrics {
  record(point: RequestPoint): void;
}

/**
 * Where data points are read. `source`: `metrics` are those of the whole service, in which a busy route is sampled; `memory`
 * are the last {@link REMEMBERED_MAX} of this process.
 * @throws MetricsUnreadable
 */
export interface RequestReader {
  readonly source: "metrics" | "memory";
  readSums(since_ms: number): Promise<RequestSums>;
  listRoutes(since_ms: number): Promise<readonly RouteSums[]>;
  list(filter: RequestFilter): Promise<readonly RequestPoint[]>;
  /** Null: a process sees only a part of the traffic. */
  readonly readTraffic: ((now_ms: number) => Promise<readonly Traffic[]>) | null;
}

/** Requests that a local service remembers. */
export const REMEMBERED_MAX = 1_000;

/** The token for reading, of the setting `METRICS_READER`. */
export interface MetricsAccess {
  readonly api_url: string;
  readonly account_id: string;
  readonly token: string;
  readonly dataset: string;
}

/** The metrics cannot be read now: Cloudflare did not respond, or did not accept the token. */
export class MetricsUnreadable extends Error {
  override readonly name = "MetricsUnreadable";
}
