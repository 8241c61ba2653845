/**
 * Which apps may act in the account. The holder opens the account for an app by using the app, with a session or with a
 * personal token that has no cap, and stops the app on the account's pages: see `../app_stop.ts`. A capped token never opens
 * it, because the app's key has no cap and could spend more.
 */
import { limitReached } from "../../domain/limit_reached.ts";
import { APPS_PER_ACCOUNT_MAX, UNREGISTERED_APPS_PER_ACCOUNT_MAX } from "../../domain/limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted } from "../../domain/result.ts";
import { isCharging, opensAccounts, shownTo } from "../caller.ts";
import type {
  AppRow,
  Batch,
  OnceAnswer,
  ProgressedJob,
  SettledJob,
  CreateJobRequest,
} from "../contract.ts";
import type { Transaction } from "../transaction.ts";

/** Whether the account is open for an app's key. */
export function isOpenFor({ store }: Transaction, app_slug: string): boolean {
  return store.readApp(app_slug)?.access === "open";
}

/**
 * Whether an app's key, streams and webhooks may have the account's credits as they were after entry `after_line`: only
 * while the account is open for the app, and only of the time since it was opened.
 */
export function seesCredits(app: AppRow | null, after_line: number): boolean {
  return app !== null && app.access === "open" && app.opened_after_line <= after_line;
}

/** The first entry that the caller may see: an app's key sees none of the time before the account was opened for the app. */
export function firstSeenLine({ store, caller }: Transaction): number {
  return caller.kind === "app" ? (store.readApp(caller.app_slug)?.opened_after_line ?? 0) + 1 : 1;
}

/** A job's response as the caller may see it: without credits for an app that may not have them; see `shownTo`. */
export function withCreditsFor<Value extends SettledJob>(
  transaction: Transaction,
  answer: OnceAnswer<Value>,
): OnceAnswer<Value> {
  if (!answer.ok) return answer;
  const { value, replayed } = answer.value;
  return accepted({ value: settledFor(transaction, value), replayed });
}

/** {@link withCreditsFor} for a batch. */
export function withCreditsForAll<Value extends SettledJob>(
  transaction: Transaction,
  answer: OnceAnswer<Batch<Value>>,
): OnceAnswer<Batch<Value>> {
  if (!answer.ok) return answer;
  const { value, replayed } = answer.value;
  const results = value.results.map((it) =>
    it.ok ? accepted(settledFor(transaction, it.value)) : it,
  );
  const lines = value.results.flatMap((it) => (it.ok ? [it.value.job.line - 1] : []));
  const after_line = Math.min(...lines, transaction.store.readNewestEntry()?.line ?? 0);
  const credits = creditsFor(transaction, value.credits, after_line);
  return accepted({ value: { results, credits }, replayed });
}

function settledFor<Value extends SettledJob>(transaction: Transaction, value: Value): Value {
  const job = shownTo(transaction, value.job);
  return { ...value, job, credits: creditsFor(transaction, value.credits, seenAfterLine(value)) };
}

function seenAfterLine(value: SettledJob | ProgressedJob): number | null {
  return "seen_after_line" in value ? value.seen_after_line : value.job.line - 1;
}

/** `after_line`: the newest entry before the request; null: the app could not read the balance. */
function creditsFor(
  transaction: Transaction,
  credits: number | null,
  after_line: number | null,
): number | null {
  const { store, caller } = transaction;
  if (isCharging(transaction)) return null;
  if (caller.kind === "page") return caller.stopped.length === 0 ? credits : null;
  if (caller.kind !== "app") return credits;
  const app = store.readApp(caller.app_slug);
  return after_line !== null && seesCredits(app, after_line) ? credits : null;
}

/** The columns of an app's access. */
type Access = Pick<
  AppRow,
  "access" | "opened_after_line" | "stopped_after_job_id" | "started_jobs"
>;

/** The access of an app after this caller used it. An app that the holder stopped stays stopped. */
export function accessAfterUse(transaction: Transaction, known: AppRow | null): Access {
  if (known !== null && known.access !== "none") {
    const { access, opened_after_line, stopped_after_job_id, started_jobs } = known;
    return { access, opened_after_line, stopped_after_job_id, started_jobs };
  }
  return opensAccounts(transaction) ? openNow(transaction) : NOT_OPEN;
}

export const NOT_OPEN: Access = {
  access: "none",
  opened_after_line: 0,
  stopped_after_job_id: null,
  started_jobs: "keep",
};

export function openNow({ store }: Transaction): Access {
  const opened_after_line = store.readNewestEntry()?.line ?? 0;
  return { ...NOT_OPEN, access: "open", opened_after_line };
}

/** Why no app can be added to the account; null if one can. Unregistered ones never take the room of the others. */
export function whyNoRoomForApp({ store }: Transaction, is_registered: boolean): Refusal | null {
  const apps = store.listApps();
  if (apps.length >= APPS_PER_ACCOUNT_MAX) return limitReached("apps");
  const unregistered = is_registered ? [] : apps.filter((app) => !app.is_registered);
  return unregistered.length >= UNREGISTERED_APPS_PER_ACCOUNT_MAX
    ? limitReached("unregistered_apps")
    : null;
}

/**
 * Opens the account for the app that a job is created for. An account with the maximum number of apps is not opened;
 * the app's key can still end its own jobs there.
 */
export function openForJob(
  transaction: Transaction,
  { app_slug: slug, is_registered = false }: Pick<CreateJobRequest, "app_slug" | "is_registered">,
): void {
  const { store, now_ms } = transaction;
  const known = store.readApp(slug);
  const access = accessAfterUse(transaction, known);
  const is_new = known === null;
  if (known?.access === access.access && known.is_registered === is_registered) return;
  if (is_new && whyNoRoomForApp(transaction, is_registered) !== null) return;
  const first_use = { slug, starter_credits: 0, granted_at_ms: null, created_at_ms: now_ms };
  store.saveApp({ ...(known ?? first_use), ...access, is_registered });
}
