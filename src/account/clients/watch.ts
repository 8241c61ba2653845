/** Opening a stream of an account: the one way to its object that is a request and no call. */
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { Accounts } from "./accounts.ts";
import { WATCH_HEADER, type WatchRequest } from "../events/watcher.ts";

export { CLOSE_PROOF_ENDED, WATCH_PROTOCOL, type WatchRequest } from "../events/watcher.ts";

/** The object's answer to an upgrade, its socket in it; or why there is no stream. */
export async function openWatch(
  account: ReturnType<Accounts>,
  request: WatchRequest,
): Promise<Result<Response, Refusal>> {
  const headers = { Upgrade: "websocket", [WATCH_HEADER]: JSON.stringify(request) };
  const answer = await account.fetch("https://account.internal/events", { headers });
  if (answer.status === 101) return accepted(answer);
  return refused(await answer.json<Refusal>());
}
