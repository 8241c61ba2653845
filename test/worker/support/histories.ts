/** How many random histories a property test tries. */
import { env } from "cloudflare:workers";

/** Whether this run is `npm run check:slow`. */
export const IS_SLOW_CHECK = env.TEST_SLOW === "true";

/** An eighth of the histories fits into the five minutes of the check; all run in the slow check. */
const SHARE_IN_CHECK = 1 / 8;

/** The number of histories to try in this run, of `all` in the slow check. */
export function histories(all: number): number {
  return IS_SLOW_CHECK ? all : Math.ceil(all * SHARE_IN_CHECK);
}
