/** The wallet: the account opened on first sight, and each app's starter credits granted once. */
import { APPS_PER_ACCOUNT_MAX } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, assertInvariant, refused } from "../domain/result.ts";
import { visibleApps, whyNotForApp, whyNotGrant } from "./personal_tokens/admission.ts";
import type { Answer, WalletAnswer, WalletRequest } from "./contract.ts";
import { ensureOpen, post, readBalance, type Transaction } from "./ledger.ts";

type AppGrant = NonNullable<WalletAnswer["app_grant"]>;

/** Answers the wallet, granting the named app's starter credits where they never were. */
export function readWallet(transaction: Transaction, request: WalletRequest): Answer<WalletAnswer> {
  const { store } = transaction;
  const app = request.app;
  const refusal = app === null ? null : whyNotUpsert(transaction, app);
  if (refusal !== null) return refused(refusal);
  ensureOpen(transaction);
  const app_grant = app === null ? null : upsertApp(transaction, app);
  const row = store.readAccount();
  assertInvariant(row !== null, "an open account has its row");
  const { id, identity_id, plan } = row;
  const account = { id, identity_id, plan, credits: readBalance(store) };
  const visible = visibleApps(transaction);
  const apps = store.listApps().filter(({ slug }) => visible?.includes(slug) ?? true);
  return accepted({ account, apps, app_grant });
}

/** A token that may only read still reads the wallet of an app, where that grants nothing. */
function whyNotUpsert(
  transaction: Transaction,
  { slug, starter_credits }: NonNullable<WalletRequest["app"]>,
): Refusal | null {
  const foreign = whyNotForApp(transaction, slug);
  if (foreign !== null) return foreign;
  const known = transaction.store.readApp(slug);
  const writes = known === null || (known.granted_at_ms === null && starter_credits > 0);
  const not_granting = writes ? whyNotGrant(transaction) : null;
  if (not_granting !== null) return not_granting;
  const full = known === null && transaction.store.listApps().length >= APPS_PER_ACCOUNT_MAX;
  return full ? { code: "too_many_apps", limit: APPS_PER_ACCOUNT_MAX } : null;
}

/** `granted` in the answer means: by this call. A grant of 0 is none, and may still come. */
function upsertApp(
  transaction: Transaction,
  { slug, starter_credits }: NonNullable<WalletRequest["app"]>,
): AppGrant {
  const { store, now_ms } = transaction;
  const known = store.readApp(slug);
  if (known !== null && known.granted_at_ms !== null) {
    return { slug, starter_credits: known.starter_credits, granted: false };
  }
  const granted = starter_credits > 0;
  if (granted) {
    post(transaction, { kind: "grant", amount: starter_credits, job_id: null, app_slug: slug });
  }
  if (granted || known === null) {
    store.saveApp({
      slug,
      starter_credits,
      granted_at_ms: granted ? now_ms : null,
      created_at_ms: known?.created_at_ms ?? now_ms,
    });
  }
  return { slug, starter_credits, granted };
}
