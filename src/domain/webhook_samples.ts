/** A sample of each event, which a receiver gets from a test. Its ids belong to nobody. Pure. */
import { DAY_MS } from "./calendar.ts";
import { SUBSCRIBABLE_EVENTS } from "./webhook.ts";
import { timestamp } from "./wire.ts";

/** The types that a test can send. A `ping` has no data. */
export const TEST_TYPES = ["ping", ...SUBSCRIBABLE_EVENTS] as const;
export type TestType = (typeof TEST_TYPES)[number];

const IDENTITY = "user_00000000-0000-4000-8000-000000000000";
const JOB = "00000000-0000-7000-8000-000000000000";
const OTHER = "00000000-0000-4000-8000-000000000000";

const OF_ACCOUNT = { identity_id: IDENTITY, line: 42, credits: 80, held: 0 } as const;

/** The `data` of a sample, with every member of real events of this type. */
export function sampleData(type: TestType, app_slug: string, at_ms: number): object {
  const soon = timestamp(at_ms + DAY_MS);
  const connection = { id: OTHER, client_id: `${app_slug}~web` };
  switch (type) {
    case "ping":
      return {};
    case "job.created":
      return { ...OF_ACCOUNT, held: 30, job: jobIn("started", app_slug, at_ms) };
    case "job.completed":
      return { ...OF_ACCOUNT, job: jobIn("completed", app_slug, at_ms) };
    case "job.failed":
    case "job.expired":
      return { ...OF_ACCOUNT, job: jobIn(type, app_slug, at_ms) };
    case "job.progressed":
      return {
        identity_id: IDENTITY,
        job_id: JOB,
        step: 3,
        spent: 10,
        done: 0.4,
        message: "Frame 40",
      };
    case "credits.changed":
      return { ...OF_ACCOUNT, bought: 50 };
    case "credits.low":
      return { ...OF_ACCOUNT, spendable: 80, threshold: 100 };
    case "credits.expiring":
      return { ...OF_ACCOUNT, lot_id: OTHER, expiring: 20, expires_at: soon };
    case "credits.expired":
      return { ...OF_ACCOUNT, lot_id: OTHER, expired: 20 };
    case "topup.failed":
      return { ...OF_ACCOUNT, reason: "declined", attempt: 1 };
    case "topup.disabled":
      return { ...OF_ACCOUNT, reason: "declined" };
    case "approval.approved":
    case "approval.denied":
      return {
        identity_id: IDENTITY,
        approval: OTHER,
        app: app_slug,
        action: "render",
        credits: 25,
        token: connection,
      };
    case "connection.revoked":
      return { identity_id: IDENTITY, connection, by: "holder" };
    case "connection.limit_reached":
      return {
        identity_id: IDENTITY,
        connection,
        cap: { credits: 100, period: "day" },
        resets_at: soon,
      };
    case "access.stopped":
    case "access.allowed":
      return { identity_id: IDENTITY, app: app_slug };
    case "app.paused":
      return { app: app_slug, paused: { since: timestamp(at_ms), message: "Back at noon." } };
    case "app.continued":
      return { app: app_slug, paused: null };
    case "credits.granted":
    case "credits.refused":
    case "purchase.completed":
    case "purchase.refunded":
    case "account.deleted":
      return OF_ACCOUNT;
  }
}

/** A job that was estimated at 30 credits. */
function jobIn(
  state: "started" | "completed" | "job.failed" | "job.expired",
  app_slug: string,
  at_ms: number,
): object {
  const is_ended_early = state === "job.failed" || state === "job.expired";
  return {
    id: JOB,
    app_slug,
    action: "render",
    status: is_ended_early ? "failed" : state,
    reserved: 30,
    actual_cost: state === "completed" ? 25 : 0,
    refunded: 0,
    step: 0,
    spent: null,
    done: null,
    message: null,
    failure: is_ended_early ? (state === "job.failed" ? "reported" : "expired") : null,
    failure_reason: state === "job.failed" ? "The file cannot be read." : null,
    created_at: timestamp(at_ms),
    updated_at: timestamp(at_ms),
    expires_at: timestamp(at_ms + DAY_MS),
    by: { kind: "browser", id: null, name: null },
    metadata: { description: "A lighthouse at dusk" },
  };
}
