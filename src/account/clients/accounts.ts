/** How the Worker reaches an account's object: by calls, or by a request that opens a stream of its events. */
import type { Refusal } from "../../domain/refusals.ts";
import { REQUEST_ID_HEADER, type CallOrigin } from "../../domain/request_origin.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { CANARY_IDENTITY } from "../contract.ts";
import { WATCH_HEADER, type WatchRequest } from "../events/watcher.ts";
import type { Account } from "../object.ts";

export { CLOSE_PROOF_ENDED, WATCH_PROTOCOL, type WatchRequest } from "../events/watcher.ts";

/**
 * Gives the account of an identity, without a lookup, because the object has that name. Each call is one hop. The hint is where the
 * object is created, if this is its first request.
 */
export type Accounts = (
  identity_id: string,
  locationHint?: DurableObjectLocationHint,
) => DurableObjectStub<Account>;

export function createAccounts(binding: DurableObjectNamespace<Account>): Accounts {
  return (identity_id, locationHint) =>
    binding.getByName(identity_id, locationHint === undefined ? {} : { locationHint });
}

/** A request that calls accounts. Its id goes along with each call, for what the object logs. `noteCall` counts the calls. */
export interface CallingRequest {
  readonly request_id: string;
  readonly location_hint: DurableObjectLocationHint | undefined;
  readonly noteCall: () => void;
}

/** The same accounts for one request. */
export function accountsOfRequest(
  accounts: Accounts,
  { request_id, location_hint, noteCall }: CallingRequest,
): Accounts {
  const origin: CallOrigin = { passbook_request_id: request_id };
  return (identity_id) =>
    new Proxy(accounts(identity_id, location_hint), {
      get(account, name) {
        const member: unknown = Reflect.get(account, name);
        if (typeof member !== "function") return member;
        noteCall();
        if (name === "fetch") {
          return (address: string, init: { readonly headers: Record<string, string> }) =>
            account.fetch(address, {
              ...init,
              headers: { ...init.headers, [REQUEST_ID_HEADER]: request_id },
            });
        }
        return (...values: unknown[]): unknown =>
          Reflect.apply(member, account, [...values, origin]);
      },
    });
}

/** `npm run deploy` decides within a minute of an upload; `--gradual` waits this long before it begins. */
const NEW_RELEASE_MS = 2 * 60_000;

/**
 * For `/readyz`: reserves and settles a job in the canary account, with the code of this release. The first call ends an
 * object that still runs an earlier release, and the second call starts it with this one. During a gradual deployment
 * Cloudflare may give the object an earlier release again, which is then exercised. So that a release cannot be called ready
 * by objects of an earlier one, this counts only when the release is some minutes old. @throws if the second call fails too.
 */
export async function exerciseCanary(
  accounts: Accounts,
  release: WorkerVersionMetadata | undefined,
): Promise<void> {
  const released_at = release?.timestamp ?? null;
  const is_new = Date.now() - Date.parse(released_at ?? "") < NEW_RELEASE_MS;
  const exercise = async (oldest: string | null): Promise<unknown> =>
    accounts(CANARY_IDENTITY).exercise(oldest);
  await exercise(released_at).catch(() => exercise(is_new ? released_at : null));
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
