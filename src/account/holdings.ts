/** The data that an account holds about its holder, for the export of a person's data. Lists have their own operations. */
import { accepted, assertInvariant } from "../domain/result.ts";
import { describeAllowance } from "./allowances/allowances.ts";
import type { Answer, Holdings } from "./contract.ts";
import { ensureOpen, readBalance } from "./ledger/posting.ts";
import { listTopUps, viewTopUp } from "./top_up/top_up.ts";
import type { Transaction } from "./transaction.ts";
import { shownLots } from "./wallet/wallet.ts";

/** The most tokens listed, living or ended: ten times as many as may live at once. The same for authorizations. */
const HELD_TOKENS_MAX = 1_000;

export function readHoldings(transaction: Transaction): Answer<Holdings> {
  const { store, database, allowances, families } = transaction;
  ensureOpen(transaction);
  const row = store.readAccount();
  assertInvariant(row !== null, "an open account has its row");
  const { id, identity_id, plan, created_at_ms } = row;
  const { suspended_at_ms, suspended_public_reason } = row;
  const renewals = families.lastRenewals();
  return accepted({
    account: {
      id,
      identity_id,
      plan,
      credits: readBalance(transaction).balance_after,
      created_at_ms,
      suspended_at_ms,
      suspended_public_reason,
    },
    apps: store.listApps(),
    lots: shownLots(transaction),
    topup: viewTopUp(transaction),
    top_ups: listTopUps(transaction),
    upstream_tokens: database.all(
      "select provider, subject, scope, expires_at_ms, updated_at_ms from upstream_tokens",
    ),
    allowances: allowances
      .listStored(HELD_TOKENS_MAX)
      .map((token) => describeAllowance(transaction, token, renewals)),
    authorizations: database.all(
      `select allowance_id, scopes, redirect_uri, auth_time_ms, rotated_at_ms from token_families
       limit ${HELD_TOKENS_MAX}`,
    ),
  });
}
