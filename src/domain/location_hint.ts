/** Where a new account's object is to be. Only the first request to an object decides it, and an object never moves. Pure. */

/** Cloudflare's regions for objects. In South America, Africa and the Middle East it takes the nearest one that has objects. */
type LocationHint = "wnam" | "enam" | "sam" | "weur" | "eeur" | "apac" | "oc" | "afr" | "me";

/** East of these longitudes, a continent's other region is nearer: Denver, Vienna, and the east of Iran. */
const WEST_OF_ENAM = -105;
const WEST_OF_EEUR = 16.5;
const WEST_OF_APAC = 61;

/**
 * The region of a request's sender, by what Cloudflare knows of it (`request.cf`). Undefined: unknown, such as in a local service, for
 * Tor and in Antarctica; Cloudflare then takes the location of the Worker.
 */
export function locationHintOf(cf: unknown): LocationHint | undefined {
  const { continent, longitude } = (cf ?? {}) as { continent?: unknown; longitude?: unknown };
  // Missing, it is where most people of these continents are.
  const isWestOf = (border: number, otherwise: boolean): boolean =>
    typeof longitude === "string" ? Number(longitude) < border : otherwise;
  switch (continent) {
    case "NA":
      return isWestOf(WEST_OF_ENAM, false) ? "wnam" : "enam";
    case "EU":
      return isWestOf(WEST_OF_EEUR, true) ? "weur" : "eeur";
    case "AS":
      return isWestOf(WEST_OF_APAC, false) ? "me" : "apac";
    case "SA":
      return "sam";
    case "OC":
      return "oc";
    case "AF":
      return "afr";
  }
  return undefined;
}
