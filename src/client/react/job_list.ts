/** The newest jobs that match a filter, kept current by the account's event stream. */
import type { PassbookClient } from "../client.ts";
import type { JobFilter } from "../jobs.ts";
import type { AccountEvent, Job, JobStatus } from "../responses.ts";
import type { AccountStore } from "./account_store.ts";
import { createSharedState, type SharedState } from "./shared_state.ts";
import { errorOf, isSignedOut, LOADING, SIGNED_OUT, type JobsState } from "./states.ts";

/** Which jobs `useJobs` shows. */
export interface JobsFilter {
  /** Only jobs of this app; of all apps if omitted. */
  readonly app?: string | undefined;
  readonly status?: JobStatus | undefined;
  /** At most this many jobs, 1 to 200; 50 if omitted. */
  readonly limit?: number | undefined;
}

export type JobList = Pick<SharedState<JobsState>, "get" | "subscribe">;

const LIMIT = 50;

/** A page of a filtered list may have few jobs, since the service reads 2,000 for each. */
const PAGES_MAX = 5;

/** Makes the list. It sends nothing before a component subscribes. */
// oxlint-disable-next-line max-lines-per-function -- short functions that share the state of one list
export function createJobList(
  client: PassbookClient,
  account: AccountStore,
  { app, status, limit = LIMIT }: JobsFilter,
): JobList {
  let known = new Map<string, Job>();
  let hasMore = false;
  let loading: AbortController | null = null;
  const state = createSharedState<JobsState>(LOADING, () => {
    const stopEvents = account.onEvent(onEvent);
    const stopAccount = account.subscribe(onAccount);
    onAccount();
    // A list that joins a running stream gets no snapshot.
    if (account.get().wallet.status === "ready") load();
    return () => {
      stopEvents();
      stopAccount();
      loading?.abort();
    };
  });

  /** While the account is not ready, the list has the account's state. */
  function onAccount(): void {
    const { wallet } = account.get();
    if (wallet.status === "ready") return;
    loading?.abort();
    state.set(wallet);
  }

  function onEvent(event: AccountEvent): void {
    if (event.kind === "snapshot") return load();
    if (!("job" in event) || event.job === null) return;
    note(event.job);
    const shown = state.get();
    if (loading !== null || shown.status !== "ready") return;
    // A job that no longer matches makes room for an older one.
    if (show() < shown.jobs.length && hasMore) load();
  }

  /** The response of a list and the stream may overtake each other. */
  function note(job: Job): void {
    const other = known.get(job.id);
    // Times are text of one format and length.
    if (other === undefined || job.updated_at >= other.updated_at) known.set(job.id, job);
  }

  function load(): void {
    loading?.abort();
    const { signal } = (loading = new AbortController());
    // Jobs of events that arrive before the response are added to it.
    known = new Map();
    void read(signal);
  }

  async function read(signal: AbortSignal): Promise<void> {
    try {
      let filter: JobFilter = {
        limit,
        ...(app !== undefined && { app }),
        ...(status && { status }),
      };
      let found = 0;
      hasMore = true;
      for (let page = 0; hasMore && found < limit && page < PAGES_MAX; page += 1) {
        const { jobs, next_cursor } = await client.jobs.list(filter, { signal });
        if (signal.aborted) return;
        jobs.forEach(note);
        found += jobs.length;
        hasMore = next_cursor !== undefined;
        if (next_cursor !== undefined) filter = { ...filter, cursor: next_cursor };
      }
      loading = null;
      show();
    } catch (error) {
      if (signal.aborted) return;
      const failed = { status: "error", error: errorOf(error), retry } as const;
      state.set(isSignedOut(error) ? SIGNED_OUT : failed);
    }
  }

  function retry(): void {
    state.set(LOADING);
    load();
  }

  /** @returns the number of jobs shown */
  function show(): number {
    const matching = [...known.values()]
      .filter((job) => app === undefined || job.app_slug === app)
      .filter((job) => status === undefined || job.status === status)
      // Ids are ordered by time.
      .toSorted((one, other) => (one.id < other.id ? 1 : -1));
    const jobs = matching.slice(0, limit);
    hasMore ||= matching.length > limit;
    state.set({ status: "ready", jobs, hasMore });
    known = new Map(jobs.map((job) => [job.id, job]));
    return jobs.length;
  }

  return { get: state.get, subscribe: state.subscribe };
}
