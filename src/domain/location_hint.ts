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
  // Without a longitude, no comparison is true, and the region is that of most people.
  const east = Number(longitude);
  switch (continent) {
    case "NA":
      return east < WEST_OF_ENAM ? "wnam" : "enam";
    case "EU":
      return east > WEST_OF_EEUR ? "eeur" : "weur";
    case "AS":
      return east < WEST_OF_APAC ? "me" : "apac";
    case "SA":
      return "sam";
    case "OC":
      return "oc";
    case "AF":
      return "afr";
  }
  return undefined;
}
