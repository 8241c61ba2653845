/** The provider and the hooks. Components of one client and app share one event stream. */
import {
  createContext,
  createElement,
  useContext,
  useMemo,
  useSyncExternalStore,
  type ReactElement,
  type ReactNode,
} from "react";
import type { PassbookClient } from "../client.ts";
import { PassbookError } from "../errors.ts";
import { createAccountStore, type AccountStore } from "./account_store.ts";
import { createJobList, type JobList, type JobsFilter } from "./job_list.ts";
import { LOADING, type JobsState, type SignInState, type WalletState } from "./states.ts";

/** State that the components of one client and app share. */
interface Shared {
  readonly client: PassbookClient;
  readonly account: AccountStore;
  readonly jobLists: Map<string, JobList>;
}

const stores = new WeakMap<PassbookClient, Map<string | undefined, Shared>>();

function sharedOf(client: PassbookClient, app: string | undefined): Shared {
  const of_client = stores.get(client) ?? new Map<string | undefined, Shared>();
  stores.set(client, of_client);
  const shared = of_client.get(app) ?? {
    client,
    account: createAccountStore(client, app),
    jobLists: new Map(),
  };
  of_client.set(app, shared);
  return shared;
}

const Context = createContext<Shared | null>(null);

/** The properties of `PassbookProvider`. */
export interface PassbookProviderProps {
  /** Make it once, outside of components: another client is another stream. */
  readonly client: PassbookClient;
  /** The slug of your app. The first request opens the account for it, which grants starter credits once. */
  readonly app?: string | undefined;
  readonly children?: ReactNode;
}

/** Gives the hooks below it their client. */
export function PassbookProvider({ client, app, children }: PassbookProviderProps): ReactElement {
  const shared = useMemo(() => sharedOf(client, app), [client, app]);
  return createElement(Context.Provider, { value: shared }, children);
}

function useShared(): Shared {
  const shared = useContext(Context);
  if (shared !== null) return shared;
  throw new PassbookError(
    "invalid_argument",
    "There is no PassbookProvider above this component. Wrap your app in one.",
  );
}

const getLoading = (): typeof LOADING => LOADING;

/** The client of the provider, for `runJob` and all other calls. */
export function usePassbook(): PassbookClient {
  return useShared().client;
}

/** The live balance. */
export function useWallet(): WalletState {
  const { account } = useShared();
  return useSyncExternalStore(account.subscribe, () => account.get().wallet, getLoading);
}

/** The signed-in person, and functions to sign in and out. */
export function useSignIn(): SignInState {
  const { account } = useShared();
  return useSyncExternalStore(account.subscribe, () => account.get().signIn, getLoading);
}

/** The newest jobs, live. */
export function useJobs({ app, status, limit }: JobsFilter = {}): JobsState {
  const { client, account, jobLists } = useShared();
  const list = useMemo(() => {
    const key = JSON.stringify([app, status, limit]);
    const known = jobLists.get(key) ?? createJobList(client, account, { app, status, limit });
    jobLists.set(key, known);
    return known;
  }, [client, account, jobLists, app, status, limit]);
  return useSyncExternalStore(list.subscribe, list.get, getLoading);
}
