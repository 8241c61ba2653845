/**
 * Events about what may act on an account. They change no credits, so they have no ledger entry: each has an id and a time
 * of its own. Pure.
 */
import { isRegisteredClientId, splitClientId } from "./oauth_client.ts";
import type { SpendingCap } from "./spending_cap.ts";

export const APPROVAL_EVENTS = ["approval.approved", "approval.denied"] as const;
export const APP_ACCESS_EVENTS = ["access.stopped", "access.allowed"] as const;
export const ACCESS_EVENTS = [
  ...APPROVAL_EVENTS,
  "connection.revoked",
  "connection.limit_reached",
  ...APP_ACCESS_EVENTS,
] as const;
type AccessEventType = (typeof ACCESS_EVENTS)[number];

/**
 * The revoker of a connection. `client`: its own client, or the one whose token it was exchanged from. `service`: what it
 * depended on has ended, such as a session or a sign-in method.
 */
export const REVOKERS = ["holder", "client", "operator", "service"] as const;
export type Revoker = (typeof REVOKERS)[number];

export interface AccessEvent {
  readonly type: AccessEventType;
  /** The app whose webhooks and key receive it; null: no app does. */
  readonly app_slug: string | null;
  /** The path of the allowance that it is about; null: it is about an app. */
  readonly allowance_path: string | null;
  /** Its members on the wire, without the id and the time. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** An allowance that an event is about. */
interface Concerned {
  readonly id: string;
  readonly path: string;
  /** Null: it is a personal access token. */
  readonly client_id: string | null;
}

/** The holder decided about a job beyond a cap. */
export function approvalDecided(
  allowance: Concerned,
  { id, app_slug, action, credits }: DecidedApproval,
  is_approved: boolean,
): AccessEvent {
  const type = is_approved ? "approval.approved" : "approval.denied";
  const { id: token_id, client_id } = allowance;
  const token = { id: token_id, client_id };
  return aboutAllowance(type, allowance, { approval: id, app: app_slug, action, credits, token });
}

interface DecidedApproval {
  readonly id: string;
  readonly app_slug: string;
  readonly action: string;
  readonly credits: number;
}

export function connectionRevoked(connection: Concerned, by: Revoker): AccessEvent {
  return aboutAllowance("connection.revoked", connection, { ...named(connection), by });
}

/** A cap of the connection refused a request, for the first time in its period. */
export function limitReachedBy(
  connection: Concerned,
  { credits, period }: SpendingCap,
  resets_at_ms: number | null,
): AccessEvent {
  const resets_at = resets_at_ms === null ? null : new Date(resets_at_ms).toISOString();
  const details = { ...named(connection), cap: { credits, period }, resets_at };
  return aboutAllowance("connection.limit_reached", connection, details);
}

/** The holder stopped an app, or allowed it again. */
export function appAccessChanged(
  type: (typeof APP_ACCESS_EVENTS)[number],
  app_slug: string,
): AccessEvent {
  return { type, app_slug, allowance_path: null, details: { app: app_slug } };
}

function named({ id, client_id }: Concerned) {
  return { connection: { id, client_id } };
}

/** Only an operator enters a client as an app's, so no other client's events reach an app. */
function aboutAllowance(
  type: AccessEventType,
  { path, client_id }: Concerned,
  details: AccessEvent["details"],
): AccessEvent {
  const is_of_app = client_id !== null && isRegisteredClientId(client_id);
  const app_slug = is_of_app ? splitClientId(client_id).app_slug : null;
  return { type, app_slug, allowance_path: path, details };
}
