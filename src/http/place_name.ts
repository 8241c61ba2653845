/** Places in words. */
import type { Location } from "../domain/client_description.ts";

/** "Lisbon, Portugal"; null where nothing is known. */
export function placeName({ city, country }: Location): string | null {
  const names = [city, country === null ? null : countryName(country)];
  return names.filter((name) => name !== null).join(", ") || null;
}

/** Cloudflare's own code for Tor is no country. */
function countryName(country: string): string {
  if (country === "T1") return "the Tor network";
  try {
    return new Intl.DisplayNames(["en"], { type: "region" }).of(country) ?? country;
  } catch {
    return country;
  }
}
