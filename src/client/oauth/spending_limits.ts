/** Limits of a connection, as authorization details (RFC 9396). */

import type { CapPeriod } from "../responses.ts";

/** The most that a connection may spend in a period. */
export interface SpendingCap {
  readonly credits: number;
  readonly period: CapPeriod;
}

/** Limits of what a connection or token can spend. A limit that is left out does not count. */
export interface SpendingLimits {
  /** The most it may spend, at most one cap a period. */
  readonly caps?: readonly SpendingCap[] | undefined;
  /** The slugs of the only apps whose jobs it may create. */
  readonly apps?: readonly string[] | undefined;
  /** How long it lives, in seconds. */
  readonly expiresIn?: number | undefined;
}

/** The parameter `authorization_details`; undefined if there is no limit. */
export function detailsOf({ caps, apps, expiresIn }: SpendingLimits): string | undefined {
  if ([caps, apps, expiresIn].every((limit) => limit === undefined)) return undefined;
  return JSON.stringify([{ type: "passbook_spending", caps, apps, expires_in: expiresIn }]);
}
