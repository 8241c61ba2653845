/** The event stream in the OpenAPI document. */
import { describe } from "../../openapi/operation.ts";
import * as endpoints from "./watch.ts";
import { account_event } from "../../openapi/schemas.ts";

export const events = describe("Wallet", endpoints, {
  watchEvents: {
    summary: "Stream the account's changes",
    description:
      "JSON messages over a WebSocket with `Upgrade: websocket`, otherwise server-sent events whose `id` is `line`. Each message is a ledger entry with the balance, the held credits, and the current state of its job. Each entry is sent once and in order. To resume, send the last `line` as `after` or `Last-Event-ID`. Without it, or if it is too old, the stream begins with a snapshot. A browser's WebSocket sends its token as a subprotocol: `passbook, bearer.<token>`. With an app's key, the stream has the entries of the app's own jobs and grants, and ends within a minute: resume it. A WebSocket of a registered OAuth client also ends within a minute. The service closes a WebSocket with code 4408 after 1 MiB; connect again with `after`.",
    success: [
      { status: 101, description: "The WebSocket." },
      {
        description:
          "The stream. It ends when its token expires; resume it with a new token. The schema describes the `data` of one message.",
        type: "text/event-stream",
        schema: account_event,
      },
    ],
  },
});
