/** What a session keeps of its browser, for its person to recognise it by. */
import { type Location, locationOf, programOf } from "../../domain/client_description.ts";

export interface Seen extends Location {
  /** Such as "Firefox on Linux"; null where nothing known is said. */
  readonly browser: string | null;
}

export function seenIn(request: Request): Seen {
  return { browser: programOf(request.headers.get("User-Agent") ?? ""), ...locationOf(request) };
}
