/** One account, kept current by one event stream. */
import type { PassbookClient } from "../client.ts";
import { isPassbookError } from "../errors.ts";
import type { AccountEvent } from "../responses.ts";
import { createSharedState, type SharedState } from "./shared_state.ts";
import {
  errorOf,
  isSignedOut,
  LOADING,
  SIGNED_OUT,
  type Failed,
  type SignInState,
  type WalletState,
} from "./states.ts";

/** The same situation as each hook shows it. The objects change only when the situation does. */
interface View {
  readonly wallet: WalletState;
  readonly signIn: SignInState;
}

export interface AccountStore extends Pick<SharedState<View>, "get" | "subscribe"> {
  /** Calls `listener` with each event, a snapshot first. */
  readonly onEvent: (listener: (event: AccountEvent) => void) => () => void;
}

/** Entries after which the plan or the list of apps may be different. */
const WALLET_KINDS: ReadonlySet<AccountEvent["kind"]> = new Set(["open", "grant", "plan"]);

const LOADING_VIEW: View = { wallet: LOADING, signIn: LOADING };

/** Makes the store. It sends nothing before a component subscribes. */
// oxlint-disable-next-line max-lines-per-function -- short functions that share the state of one stream
export function createAccountStore(client: PassbookClient, app: string | undefined): AccountStore {
  const followers = new Set<(event: AccountEvent) => void>();
  let following: AbortController | null = null;
  const state = createSharedState<View>(LOADING_VIEW, () => {
    start();
    return () => following?.abort();
  });

  function start(): void {
    following?.abort();
    const { signal } = (following = new AbortController());
    state.set(LOADING_VIEW);
    follow(signal).catch((error: unknown) => {
      if (!signal.aborted) state.set(endOf(error));
    });
  }

  function endOf(error: unknown): View {
    if (isSignedOut(error))
      return signedOut(isPassbookError(error, "signin_failed") ? error : null);
    const failed: Failed = { status: "error", error: errorOf(error), retry: start };
    return { wallet: failed, signIn: failed };
  }

  function signedOut(error: Error | null): View {
    const signIn = (options?: { readonly redirectTo?: string }): void =>
      client.startSignIn(options);
    return {
      wallet: SIGNED_OUT,
      signIn: { status: "signed_out", error, signIn, retry: start },
    };
  }

  async function signOut(): Promise<void> {
    await client.signOut();
    following?.abort();
    state.set(signedOut(null));
  }

  async function follow(signal: AbortSignal): Promise<void> {
    // After a sign-in, takes the token out of the URL. Apps that are not web pages sign in by themselves.
    if ("document" in globalThis) client.finishSignIn();
    let { account, apps } = await client.wallet({ signal, ...(app !== undefined && { app }) });
    const signIn: SignInState = { status: "signed_in", identityId: account.identity_id, signOut };
    let held = 0;
    let [has_snapshot, opened] = [false, false];
    const show = (): void => {
      const { credits, plan } = account;
      const wallet: WalletState = { status: "ready", credits, held, plan, apps };
      if (has_snapshot && !signal.aborted) state.set({ wallet, signIn });
    };
    const readAgain = oneAtATime(async () => {
      const fresh = await client.wallet({ signal });
      // Cookies may belong to another person now: their entries must not continue this account's.
      if (fresh.account.id !== account.id) return start();
      account = { ...fresh.account, credits: account.credits };
      ({ apps } = fresh);
      show();
    });
    const onOpen = (): void => {
      if (opened) readAgain();
      opened = true;
    };
    for await (const event of client.events({ signal, onOpen })) {
      // A job's progress and changes of access have no entry, and so no balance.
      if ("line" in event) {
        account = { ...account, credits: event.credits };
        held = event.held;
        has_snapshot = true;
        show();
      }
      for (const follower of followers) follower(event);
      if (WALLET_KINDS.has(event.kind)) readAgain();
    }
  }

  return {
    get: state.get,
    subscribe: state.subscribe,
    onEvent(listener) {
      followers.add(listener);
      return () => void followers.delete(listener);
    },
  };
}

/** Runs `task` now, and once more if it was requested again meanwhile. Its failure leaves what was known. */
function oneAtATime(task: () => Promise<void>): () => void {
  let [running, requested] = [false, false];
  const run = async (): Promise<void> => {
    running = true;
    while (requested) {
      requested = false;
      await task().catch(() => {});
    }
    running = false;
  };
  return () => {
    requested = true;
    if (!running) void run();
  };
}
