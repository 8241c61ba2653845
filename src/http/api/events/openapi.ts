/** What the OpenAPI document says of live events. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { watchEventsQuery } from "./watch.ts";
import { operation } from "../../openapi/operation.ts";
import { account_event } from "../../openapi/schemas.ts";

export const events_paths: ZodOpenApiPathsObject = {
  "/api/events": {
    get: operation({
      id: "watchEvents",
      tag: "Wallet",
      summary: "The account's changes, live and without a gap",
      description:
        "With `Upgrade: websocket` JSON messages, else server-sent events whose `id` is the line. Each message is a ledger line with the balance, what is held, and its job as it is now; each line comes once and in order. `after` or `Last-Event-ID` resumes; without, or too far behind, it begins with a snapshot. Browsers' WebSockets bring their token among the subprotocols: `passbook, bearer.<token>`. A WebSocket is closed with 4408 once 1 MiB was sent on it: open it again with `after`.",
      security: "caller",
      query: watchEventsQuery,
      success: [
        { status: 101, description: "The WebSocket." },
        {
          description:
            "The stream; it ends when the token that opened it expires, and is resumed with a new one. The schema describes the `data` of one message.",
          type: "text/event-stream",
          schema: account_event,
        },
      ],
      refusals: ["origin_not_allowed", "too_many_watchers"],
    }),
  },
};
