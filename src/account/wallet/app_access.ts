/**
 * Which apps' keys may act in the account. The holder opens the account for an app by using the app, with a session or
 * with a personal token that has no cap, and disconnects the app on the account page. A capped token never opens it,
 * because the app's key has no cap and could spend more.
 */
import { APPS_PER_ACCOUNT_MAX, UNREGISTERED_APPS_PER_ACCOUNT_MAX } from "../../domain/limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused } from "../../domain/result.ts";
import { opensAccounts } from "../caller.ts";
import type {
  Answer,
  AppRow,
  Batch,
  OnceAnswer,
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

/** A job's response as the caller may see it: without credits for an app's key that may not have them. */
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
  const lines = value.results.flatMap((it) => (it.ok ? [it.value.job.line] : []));
  const line = Math.min(...lines, (transaction.store.readNewestEntry()?.line ?? 0) + 1);
  const credits = creditsFor(transaction, value.credits, line);
  return accepted({ value: { results, credits }, replayed });
}

function settledFor<Value extends SettledJob>(transaction: Transaction, value: Value): Value {
  return { ...value, credits: creditsFor(transaction, value.credits, value.job.line) };
}

/** `line`: the entry after which the balance was these credits. */
function creditsFor(
  { store, caller }: Transaction,
  credits: number | null,
  line: number,
): number | null {
  if (caller.kind !== "app") return credits;
  return seesCredits(store.readApp(caller.app_slug), line - 1) ? credits : null;
}

/** The columns of an app's access. */
type Access = Pick<AppRow, "access" | "opened_after_line">;

/** The access of an app after this caller used it. An app that the holder disconnected stays disconnected. */
export function accessAfterUse(transaction: Transaction, known: AppRow | null): Access {
  if (known !== null && known.access !== "none") {
    const { access, opened_after_line } = known;
    return { access, opened_after_line };
  }
  return opensAccounts(transaction)
    ? openNow(transaction)
    : { access: "none", opened_after_line: 0 };
}

function openNow({ store }: Transaction): Access {
  return { access: "open", opened_after_line: store.readNewestEntry()?.line ?? 0 };
}

/** Why no app can be added to the account; null if one can. Unregistered ones never take the room of the others. */
export function whyNoRoomForApp({ store }: Transaction, is_registered: boolean): Refusal | null {
  const code = "too_many_apps";
  const apps = store.listApps();
  if (apps.length >= APPS_PER_ACCOUNT_MAX) return { code, of: "all", limit: APPS_PER_ACCOUNT_MAX };
  const limit = UNREGISTERED_APPS_PER_ACCOUNT_MAX;
  const unregistered = is_registered ? [] : apps.filter((app) => !app.is_registered);
  return unregistered.length >= limit ? { code, of: "unregistered", limit } : null;
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

/** Connects or disconnects an app. Only the holder may. Refused as `app_unknown` if the account has no such app. */
export function setAppAccess(
  transaction: Transaction,
  slug: string,
  access: "open" | "disconnected",
): Answer<null> {
  const { store, caller } = transaction;
  if (caller.kind !== "holder") return refused({ code: "scope", reason: "holder_only" });
  const known = store.readApp(slug);
  if (known === null) return refused({ code: "app_unknown" });
  // Connecting an app that is connected already must not hide from it what it has not received yet.
  if (known.access === access) return accepted(null);
  store.saveApp({ ...known, ...(access === "open" ? openNow(transaction) : { access }) });
  return accepted(null);
}
