/** How the Worker reaches an account's object: by calls, or by a request that opens a stream of its events. */
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { CANARY_IDENTITY } from "../contract.ts";
import { WATCH_HEADER, type WatchRequest } from "../events/watcher.ts";
import type { Account } from "../object.ts";

export { CLOSE_PROOF_ENDED, WATCH_PROTOCOL, type WatchRequest } from "../events/watcher.ts";

/** Gives the account of an identity, without a lookup, because the object has that name. Each call is one hop. */
export type Accounts = (identity_id: string) => DurableObjectStub<Account>;

export function createAccounts(binding: DurableObjectNamespace<Account>): Accounts {
  return (identity_id) => binding.getByName(identity_id);
}

/**
 * For `/readyz`: reserves and settles a job in the canary account, with the code of this release. The first call ends an
 * object that still runs an earlier release, and the second call starts it with this one. @throws if the second call
 * fails too.
 */
export async function exerciseCanary(
  accounts: Accounts,
  release: WorkerVersionMetadata | undefined,
): Promise<void> {
  const exercise = async (): Promise<unknown> =>
    accounts(CANARY_IDENTITY).exercise(release?.timestamp ?? null);
  await exercise().catch(exercise);
}

/** For `/readyz`: see `directory/marker.ts`. */
export async function keepMarkerInCanary(accounts: Accounts, id: string): Promise<string> {
  return accounts(CANARY_IDENTITY).keepDirectoryMarker(id);
}

/** Opens a stream. @returns the object's response with the WebSocket, or why it opens none. */
export async function openWatch(
  account: ReturnType<Accounts>,
  request: WatchRequest,
): Promise<Result<Response, Refusal>> {
  const headers = { Upgrade: "websocket", [WATCH_HEADER]: JSON.stringify(request) };
  const response = await account.fetch("https://account.internal/events", { headers });
  if (response.status === 101) return accepted(response);
  return refused(await response.json<Refusal>());
}
