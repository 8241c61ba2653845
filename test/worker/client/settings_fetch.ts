/** The Worker as the client's `fetch` reaches it, under some settings. */
import type { Fetch } from "../../../src/client/index.ts";
import { send } from "../support/passbook.ts";

export function fetchOf(settings: object): Fetch {
  return async (url, { method, headers, body = null }) => {
    const answer = await send(method, url, { headers, body }, settings);
    return { status: answer.status, headers: answer.headers, text: async () => answer.text };
  };
}
