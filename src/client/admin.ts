/** The calls of `/api/admin`, for operators. Other callers get `not_operator`. */
import type { Credentials } from "./credentials.ts";
import { createCalls, type CallOptions, type WriteOptions } from "./calls.ts";
import type { JobFilter } from "./jobs.ts";
import type { LedgerFilter } from "./ledger.ts";
import { isDone, readRefusal, type Call, type OpenCall, type Transport } from "./transport.ts";
import type {
  Account,
  AccountPurchasePage,
  AdjustedCredits,
  AuditPage,
  ChangedPlan,
  EntryPage,
  FoundAccountPage,
  FoundJobPage,
  Health,
  InspectedAccount,
  Job,
  JobPage,
  Money,
  MonthMoney,
  OperatorList,
  PersonData,
  ReconciledPage,
  RefundedJob,
  RepairedPage,
  Stats,
  SuspendedAccounts,
} from "./responses.ts";

export interface AccountFilter {
  /** An account id, an identity, or the beginning of an e-mail address. */
  readonly q?: string;
  readonly sort?: "created" | "credits";
  /** `desc`, the default: newest or most credits first. */
  readonly order?: "desc" | "asc";
  readonly state?: "active" | "suspended";
  /** Only accounts that got starter credits of this app. */
  readonly app?: string;
  /** Only people whose e-mail address is in this domain. */
  readonly domain?: string;
  /** A UTC day such as `2026-11-21`, or a time. */
  readonly createdFrom?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

export interface AuditFilter {
  /** The operator's identity or e-mail address. */
  readonly actor?: string;
  readonly act?: string;
  /** An app's slug, or a person's identity or e-mail address. */
  readonly subject?: string;
  readonly from?: Date | string;
  /** Not included. */
  readonly to?: Date | string;
  readonly limit?: number;
  readonly cursor?: string;
}

/** UTC days, such as `2026-11-01`; `to` is not included. The last 30 days by default. */
export interface MoneyPeriod {
  readonly from?: string;
  readonly to?: string;
}

/** The lists of {@link Admin.moneyCsv}. */
export type MoneyList = "by_app" | "revenue" | "accounts" | "month";

/**
 * Each call throws {@link PassbookError}. Retries are safe, since every write has an idempotency key: a new one for each
 * call if `idempotencyKey` is omitted. `identity` is the account holder's identity or e-mail address.
 */
export interface Admin {
  accounts(filter?: AccountFilter, options?: CallOptions): Promise<FoundAccountPage>;
  account(identity: string, options?: CallOptions): Promise<InspectedAccount>;
  accountJob(identity: string, jobId: string, options?: CallOptions): Promise<Job>;
  accountJobs(identity: string, filter?: JobFilter, options?: CallOptions): Promise<JobPage>;
  /** Purchases with the money paid and returned, newest first. */
  accountPurchases(
    identity: string,
    page?: { readonly limit?: number; readonly cursor?: string },
    options?: CallOptions,
  ): Promise<AccountPurchasePage>;
  accountLedger(identity: string, filter?: LedgerFilter, options?: CallOptions): Promise<EntryPage>;
  /**
   * Adds credits, or removes them if `amount` is negative; the holder sees the reason. To remove more than the balance,
   * set `allowNegative`; otherwise the call is refused with `balance_below_zero`.
   */
  adjustCredits(
    identity: string,
    change: {
      readonly amount: number;
      readonly reason: string;
      readonly allowNegative?: boolean;
    },
    options?: WriteOptions,
  ): Promise<AdjustedCredits>;
  /**
   * Gives back cost of an ended job: `amount`, or all that is left; the holder sees the reason. In all at most what the
   * job cost, otherwise the call is refused with `refund_limit`.
   */
  refundJob(
    identity: string,
    jobId: string,
    change: { readonly amount?: number | undefined; readonly reason: string },
    options?: WriteOptions,
  ): Promise<RefundedJob>;
  changePlan(
    identity: string,
    change: { readonly plan: string; readonly reason: string },
    options?: WriteOptions,
  ): Promise<Account>;
  /** Ends all sessions of the holder. */
  signOut(
    identity: string,
    change?: { readonly reason?: string },
    options?: WriteOptions,
  ): Promise<void>;
  /** Writes the account to the read model again. */
  rebuild(identity: string, options?: WriteOptions): Promise<void>;
  /** Repairs the read model for one page of people. Continue with each `next_cursor`. */
  rebuildPage(page?: { readonly cursor?: string }, options?: WriteOptions): Promise<RepairedPage>;
  /** Books recent payments whose webhook did not arrive, one page. Continue with each `next_cursor`. */
  reconcilePayments(
    page?: { readonly cursor?: string },
    options?: WriteOptions,
  ): Promise<ReconciledPage>;
  /** Locks the holder out of the account. `restore` unlocks it. */
  suspend(
    identity: string,
    change: { readonly reason: string },
    options?: WriteOptions,
  ): Promise<void>;
  /** Everything that the service stores about a person, as they can download it themselves. */
  exportAccount(
    identity: string,
    change?: { readonly reason?: string },
    options?: CallOptions,
  ): Promise<PersonData>;
  /** Deletes an account for good, as its holder would. `confirm` is its `identity_id`. */
  deleteAccount(
    identity: string,
    change: { readonly confirm: string; readonly reason: string },
    options?: WriteOptions,
  ): Promise<void>;
  /** Suspends up to 100 accounts. Each succeeds or fails by itself: see `results`. */
  suspendMany(
    identities: readonly string[],
    change: { readonly reason: string },
    options?: WriteOptions,
  ): Promise<SuspendedAccounts>;
  restore(
    identity: string,
    change: { readonly reason: string },
    options?: WriteOptions,
  ): Promise<void>;
  revokePersonalToken(
    identity: string,
    id: string,
    change?: { readonly reason?: string },
    options?: WriteOptions,
  ): Promise<void>;
  jobs(
    filter?: JobFilter & { readonly identity?: string },
    options?: CallOptions,
  ): Promise<FoundJobPage>;
  /** Totals by UTC day, such as `2026-11-21`; `to` is not included. */
  stats(
    filter?: { readonly from?: string; readonly to?: string; readonly app?: string },
    options?: CallOptions,
  ): Promise<Stats>;
  /** Outstanding credits now, and the credits and money of UTC days; `to` is not included. */
  money(period?: MoneyPeriod, options?: CallOptions): Promise<Money>;
  /** What all people owned before and after a UTC month such as `2026-10`, and what changed it. */
  moneyOfMonth(month: string, options?: CallOptions): Promise<MonthMoney>;
  /**
   * One list of {@link Admin.money} as CSV, the balance of every account, or {@link Admin.moneyOfMonth}, which needs a
   * `month`; in pieces, as they arrive.
   */
  moneyCsv(
    list: MoneyList,
    period?: MoneyPeriod | { readonly month: string },
    options?: CallOptions,
  ): AsyncGenerator<string, void, undefined>;
  /** The figures that show whether the service is healthy. */
  health(options?: CallOptions): Promise<Health>;
  audit(filter?: AuditFilter, options?: CallOptions): Promise<AuditPage>;
  /** The newest 10,000 records of {@link Admin.audit} as CSV; in pieces, as they arrive. */
  auditCsv(
    filter?: Omit<AuditFilter, "limit" | "cursor">,
    options?: CallOptions,
  ): AsyncIterable<string>;
  /** The entries of `OPERATORS`, with their roles. */
  operators(options?: CallOptions): Promise<OperatorList>;
}

/** The response as text, in pieces. @throws PassbookError if it was refused, or the connection broke. */
async function* readText(
  transport: Transport,
  call: OpenCall,
): AsyncGenerator<string, void, undefined> {
  const response = await transport.open(call);
  if (response.status !== 200) throw readRefusal(response, await response.text());
  const reader = response.body?.getReader();
  if (reader === undefined) return yield await response.text();
  const decoder = new TextDecoder();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    yield decoder.decode(part.value, { stream: true });
  }
}

const pathOf = (identity: string, rest = ""): string =>
  `/api/admin/accounts/${encodeURIComponent(identity)}${rest}`;

export function createAdmin(transport: Transport, credentials: Credentials): Admin {
  const calls = createCalls(transport, credentials);
  const read = <Body extends object>(
    path: string,
    query: Call["query"] & object,
    { signal }: CallOptions,
    has: keyof Body,
  ): Promise<Body> => {
    const isValid = (body: Body): boolean => typeof body[has] === "object" && body[has] !== null;
    return calls.read({ path, query, signal, isValid });
  };
  const post = <Body extends object>(
    identity: string,
    act: string,
    body: object,
    options: WriteOptions,
    isValid: (body: Body) => boolean,
  ) => calls.write({ method: "POST", path: pathOf(identity, `/${act}`), body, isValid }, options);
  const act = async (identity: string, name: string, body: object, options: WriteOptions) =>
    void (await post(identity, name, body, options, isDone));

  return {
    accounts: ({ createdFrom, ...filter } = {}, options = {}) => {
      const query = { ...filter, created_from: createdFrom };
      return read<FoundAccountPage>("/api/admin/accounts", query, options, "accounts");
    },
    account: (identity, options = {}) =>
      read<InspectedAccount>(pathOf(identity), {}, options, "account"),
    accountJobs: (identity, filter = {}, options = {}) =>
      read<JobPage>(pathOf(identity, "/jobs"), { ...filter }, options, "jobs"),
    accountJob: (identity, jobId, { signal } = {}) => {
      const path = pathOf(identity, `/jobs/${encodeURIComponent(jobId)}`);
      const isValid = (job: Job): boolean => job.id === jobId.toLowerCase();
      return calls.read({ path, signal, isValid });
    },
    accountPurchases: (identity, page = {}, options = {}) =>
      read<AccountPurchasePage>(pathOf(identity, "/purchases"), { ...page }, options, "purchases"),
    accountLedger: (identity, { jobId, ...rest } = {}, options = {}) => {
      const query = { ...rest, job_id: jobId };
      return read<EntryPage>(pathOf(identity, "/ledger"), query, options, "entries");
    },
    async adjustCredits(identity, { amount, reason, allowNegative }, options = {}) {
      const isValid = ({ entry, credits }: AdjustedCredits): boolean =>
        entry?.amount === amount && Number.isSafeInteger(credits);
      const body = { amount, reason, allow_negative: allowNegative };
      return post(identity, "credits", body, options, isValid);
    },
    refundJob(identity, jobId, { amount, reason }, options = {}) {
      const isValid = ({ job, credits }: RefundedJob): boolean =>
        job?.id === jobId.toLowerCase() && Number.isSafeInteger(credits);
      const path = `jobs/${encodeURIComponent(jobId)}/refund`;
      return post(identity, path, { amount, reason }, options, isValid);
    },
    async changePlan(identity, { plan, reason }, options = {}) {
      const isValid = (body: ChangedPlan): boolean => body.account?.plan === plan;
      return (await post(identity, "plan", { plan, reason }, options, isValid)).account;
    },
    signOut: (identity, { reason } = {}, options = {}) =>
      act(identity, "signout", { reason }, options),
    rebuild: (identity, options = {}) => act(identity, "rebuild", {}, options),
    rebuildPage: ({ cursor } = {}, options = {}) => {
      const isValid = (page: RepairedPage): boolean =>
        Number.isSafeInteger(page.checked) && Array.isArray(page.failed);
      const call = { method: "POST", path: "/api/admin/rebuild", body: { cursor } } as const;
      return calls.write({ ...call, isValid }, options);
    },
    reconcilePayments: ({ cursor } = {}, options = {}) => {
      const isValid = (page: ReconciledPage): boolean =>
        Array.isArray(page.booked) && Array.isArray(page.not_booked);
      const path = "/api/admin/payments/reconcile";
      return calls.write({ method: "POST", path, body: { cursor }, isValid }, options);
    },
    suspend: (identity, { reason }, options = {}) => act(identity, "suspend", { reason }, options),
    suspendMany: (identities, { reason }, options = {}) => {
      const body = { identity_ids: identities, reason };
      const isValid = ({ results }: SuspendedAccounts): boolean =>
        results?.length === identities.length;
      const path = "/api/admin/accounts/suspend";
      return calls.write({ method: "POST", path, body, isValid }, options);
    },
    restore: (identity, { reason }, options = {}) => act(identity, "restore", { reason }, options),
    exportAccount: (identity, { reason } = {}, options = {}) =>
      read<PersonData>(pathOf(identity, "/export"), { reason }, options, "account"),
    async deleteAccount(identity, body, options = {}) {
      const path = pathOf(identity);
      await calls.write({ method: "DELETE", path, body, isValid: isDone }, options);
    },
    async revokePersonalToken(identity, id, { reason } = {}, options = {}) {
      const path = pathOf(identity, `/personal-tokens/${encodeURIComponent(id)}`);
      const query = { reason };
      await calls.write({ method: "DELETE", path, query, isValid: isDone }, options);
    },
    jobs: ({ identity, ...rest } = {}, options = {}) =>
      read<FoundJobPage>("/api/admin/jobs", { ...rest, identity_id: identity }, options, "jobs"),
    stats: (filter = {}, options = {}) =>
      read<Stats>("/api/admin/stats", { ...filter }, options, "series"),
    money: (period = {}, options = {}) =>
      read<Money>("/api/admin/money", { ...period }, options, "outstanding"),
    moneyOfMonth(month, { signal } = {}) {
      const isValid = ({ closing }: MonthMoney): boolean => Number.isSafeInteger(closing);
      return calls.read({ path: "/api/admin/money", query: { month }, signal, isValid });
    },
    moneyCsv: (list, period = {}, { signal } = {}) =>
      readText(transport, {
        path: "/api/admin/money",
        query: { ...period, list },
        credentials,
        accept: "text/csv",
        signal: signal ?? new AbortController().signal,
      }),
    health: (options = {}) => read<Health>("/api/admin/health", {}, options, "figures"),
    audit: (filter = {}, options = {}) =>
      read<AuditPage>("/api/admin/audit", { ...filter }, options, "entries"),
    auditCsv: (filter = {}, { signal } = {}) =>
      readText(transport, {
        path: "/api/admin/audit",
        query: { ...filter },
        credentials,
        accept: "text/csv",
        signal: signal ?? new AbortController().signal,
      }),
    operators: (options = {}) =>
      read<OperatorList>("/api/admin/operators", {}, options, "operators"),
  };
}
