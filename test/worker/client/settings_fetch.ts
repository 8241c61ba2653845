/** A `fetch` that reaches the Worker with these settings. */
import type { Fetch } from "../../../src/client/index.ts";
import { send } from "../support/passbook.ts";

export function fetchOf(settings: object): Fetch {
  return async (url, { method, headers, body = null }) => {
    const response = await send(method, url, { headers, body }, settings);
    return { status: response.status, headers: response.headers, text: async () => response.text };
  };
}
