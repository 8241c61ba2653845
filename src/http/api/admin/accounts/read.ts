/**
 * `GET /api/admin/accounts`, and `GET …/accounts/{identity_id}` with its lists of jobs and ledger entries, whose data comes
 * from the account's object and not from the read model.
 */
import { OPERATOR, type AppRow, type InspectedAccount } from "../../../../account/contract.ts";
import { lotView, topUpView } from "../../../../domain/wire.ts";
import type { ListedSession, Person } from "../../../../identity/port.ts";
import * as accounts from "../../../../operator/find_accounts.ts";
import { holderAccount } from "../../../caller/holder.ts";
import { endpoint } from "../../endpoint.ts";
import { jobsRequest, jobsView, listJobsQuery } from "../../jobs/list.ts";
import { entriesRequest, entriesView, listLedgerQuery } from "../../ledger/list.ts";
import { locationName } from "../../../../domain/client_description.ts";
import { refuse } from "../../../refusals.ts";
import { personalTokenView } from "../../personal_tokens/list.ts";
import { jobView, timestamp } from "../../../views.ts";

const timeOrNull = (at_ms: number | null) => (at_ms === null ? null : timestamp(at_ms));

/** As in the wallet, except that `starter_credits` is the stored amount, not what a grant would be worth now. */
function appView({ slug, starter_credits, granted_at_ms }: AppRow) {
  const granted = granted_at_ms !== null;
  return { slug, starter_credits, granted, granted_at: timeOrNull(granted_at_ms) };
}

function sessionView({ id, browser, created_at_ms, last_used_at_ms, ...place }: ListedSession) {
  return {
    id,
    browser,
    place: locationName(place),
    created_at: timestamp(created_at_ms),
    last_used_at: timeOrNull(last_used_at_ms),
  };
}

function accountView(
  { account }: Pick<InspectedAccount, "account">,
  { name, email, email_verified }: Person,
) {
  const { id, identity_id, plan, credits, created_at_ms } = account;
  return {
    id,
    identity_id,
    plan,
    credits,
    name,
    email,
    email_verified,
    created_at: timestamp(created_at_ms),
    suspended_at: timeOrNull(account.suspended_at_ms),
    suspended_public_reason: account.suspended_public_reason,
  };
}

export const inspectAccount = endpoint(
  {
    at: "GET /api/admin/accounts/{identity_id}",
    role: "viewer",
  },
  async (context) => {
    const { identity } = context.get("services");
    const holder = context.get("holder");
    const [inspected, sessions] = await Promise.all([
      holderAccount(context).inspect(),
      identity.listSessions(holder.identity_id),
    ]);
    if (!inspected.ok) return refuse(context, inspected.refusal);
    const { held, lots, apps, allowances, topup, top_ups, started_jobs } = inspected.value;
    return context.json({
      account: accountView(inspected.value, holder),
      held,
      lots: lots.map(lotView),
      apps: apps.map(appView),
      personal_tokens: allowances.map(personalTokenView),
      sessions: sessions.map(sessionView),
      topup: topup === null ? null : topUpView(topup),
      top_ups: top_ups.map(({ created_at_ms, ...it }) => ({
        ...it,
        created_at: timestamp(created_at_ms),
      })),
      started_jobs: started_jobs.map(jobView),
    });
  },
);

export const listAccountJobs = endpoint(
  {
    at: "GET /api/admin/accounts/{identity_id}/jobs",
    role: "viewer",
    query: listJobsQuery,
  },
  async (context, { query }) => {
    const request = jobsRequest(query);
    const listed = await holderAccount(context).listJobs(OPERATOR, request);
    return listed.ok ? context.json(jobsView(listed.value)) : refuse(context, listed.refusal);
  },
);

export const readAccountJob = endpoint(
  {
    at: "GET /api/admin/accounts/{identity_id}/jobs/{job_id}",
    role: "viewer",
    refusals: ["job_not_found"],
  },
  async (context, { params }) => {
    const read = await holderAccount(context).readJob(OPERATOR, params.job_id.toLowerCase());
    return read.ok ? context.json(jobView(read.value)) : refuse(context, read.refusal);
  },
);

export const listAccountLedger = endpoint(
  {
    at: "GET /api/admin/accounts/{identity_id}/ledger",
    role: "viewer",
    query: listLedgerQuery,
  },
  async (context, { query }) => {
    const request = entriesRequest(query);
    const listed = await holderAccount(context).listEntries(OPERATOR, request);
    return listed.ok ? context.json(entriesView(listed.value)) : refuse(context, listed.refusal);
  },
);

export const findAccounts = endpoint(
  {
    at: "GET /api/admin/accounts",
    role: "viewer",
    query: accounts.findAccountsQuery,
  },
  async (context, { query }) =>
    context.json(await accounts.findAccounts(context.get("services"), query)),
);
