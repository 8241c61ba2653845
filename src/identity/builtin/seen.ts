/** What a session keeps of its browser, for its person to recognise it by. */
import { placeOf, type Place } from "../../domain/place.ts";
import { programOf } from "../../domain/user_agent.ts";

export interface Seen extends Place {
  /** Such as "Firefox on Linux"; null where nothing known is said. */
  readonly browser: string | null;
}

export function seenIn(request: Request): Seen {
  return { browser: programOf(request.headers.get("User-Agent") ?? ""), ...placeOf(request) };
}
