/** Where a request comes from, by its address, as the platform guesses it. Pure. */

/** Longest city name that is kept, in characters. */
const PLACE_MAX_LENGTH = 100;

/** What is not known is null; locally nothing is. */
export interface Place {
  readonly city: string | null;
  /** As ISO 3166-1 names it, or "T1", Cloudflare's own for Tor. */
  readonly country: string | null;
}

export function placeOf(request: { readonly cf?: unknown }): Place {
  const { city, country } = (request.cf ?? {}) as { city?: unknown; country?: unknown };
  const known = country === "XX" ? null : textOf(country);
  return { city: textOf(city), country: known };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, PLACE_MAX_LENGTH) : null;
}
