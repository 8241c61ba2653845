/**
 * Which apps' keys may act in the account. The holder opens the account for an app by using the app, with a session or
 * with a personal token that has no cap, and disconnects the app on the account page. A capped token never opens it,
 * because the app's key has no cap and could spend more.
 */
import { APPS_PER_ACCOUNT_MAX } from "../../domain/limits.ts";
import { accepted, refused } from "../../domain/result.ts";
import { opensAccounts } from "../caller.ts";
import type { Answer, AppRow } from "../contract.ts";
import type { Transaction } from "../transaction.ts";

/** Whether the account is open for an app's key. */
export function isOpenFor({ store }: Transaction, app_slug: string): boolean {
  return store.readApp(app_slug)?.access === "open";
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

/**
 * Opens the account for the app that a job is created for. An account with the maximum number of apps is not opened;
 * the app's key can still end its own jobs there.
 */
export function openForJob(transaction: Transaction, slug: string): void {
  const { store, now_ms } = transaction;
  const known = store.readApp(slug);
  const access = accessAfterUse(transaction, known);
  if (known?.access === access.access) return;
  if (known === null && store.listApps().length >= APPS_PER_ACCOUNT_MAX) return;
  const first_use = { slug, starter_credits: 0, granted_at_ms: null, created_at_ms: now_ms };
  store.saveApp({ ...(known ?? first_use), ...access });
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
