/** What the client is told to send, what it responds with, and the requests themselves. */
import { requestBytes } from "../bench/connection.ts";
import type { Arrival, Kind } from "./arrivals.ts";

/** What the client is told to send. */
export interface Task {
  readonly port: number;
  readonly arrivals: readonly Arrival[];
  /** By the number of the account. */
  readonly tokens: ReadonlyMap<number, string>;
  /** The most connections, and so the most requests that wait at the service. */
  readonly connections: number;
  /** A person gives up after this time: a request without a response ends, and one that waits here is not sent. */
  readonly patience_ms: number;
  /** After this time nothing more is sent. */
  readonly max_ms: number;
}

/** Instead of a status. */
export const NOT_SENT = 0;
export const NO_RESPONSE = 1;
export const LOST = 2;

/** What became of each arrival, in the order of the plan. */
export interface Outcome {
  readonly elapsed_ms: number;
  /** The processor time of the client. */
  readonly cpu_ms: number;
  /** Whether every connection was busy, so that requests waited in the client. */
  readonly is_full: boolean;
  readonly statuses: readonly number[];
  /** Whether a response had `Retry-After`. */
  readonly has_retry_after: readonly boolean[];
  /** From the planned arrival to the end of the response. */
  readonly times_ms: readonly number[];
  /** From the planned arrival to the moment when the client sent it. */
  readonly late_ms: readonly number[];
  /** The jobs that were created, by the index of the arrival. */
  readonly job_ids: ReadonlyMap<number, string>;
  /** The bodies of some responses that are neither a success nor a refusal. */
  readonly samples: readonly string[];
}

export const JOB_CREDITS = 1;
const CREATE = JSON.stringify({ app: "bench", action: "draw", cost_estimate: JOB_CREDITS });

const PATHS: Readonly<Record<Kind, string>> = {
  wallet: "/api/wallet",
  create: "/api/jobs",
  list: "/api/jobs?limit=50",
};

/** The request of an arrival. */
export function bytesOf({ kind, state, number }: Arrival, token: string): Buffer {
  const proof = `Authorization: Bearer ${token}`;
  if (kind === "create") {
    return requestBytes("POST", PATHS.create, [proof, `Idempotency-Key: load-${number}`], CREATE);
  }
  return requestBytes("GET", `${PATHS[kind]}${state === "new" ? "?app=bench" : ""}`, [proof], null);
}
