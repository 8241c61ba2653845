/** For operators: what `/api/admin` offers, as calls. Everybody else is refused as `not_operator`. */
import type { Credentials } from "./credentials.ts";
import { checked, type CallOptions, type JobFilter, type WriteOptions } from "./jobs.ts";
import type { Answer, Call, Transport } from "./transport.ts";
import type { LedgerFilter } from "./client.ts";
import type { Account, AppEntry, Entry, EntryPage, Job, JobPage, PersonalToken } from "./wire.ts";

/** An account in a list, as the read model knows it. */
export interface FoundAccount extends Account {
  readonly name: string | null;
  readonly email: string | null;
  readonly reserved: number;
  readonly created_at: string;
}

export interface FoundAccountPage {
  readonly accounts: readonly FoundAccount[];
  readonly next_cursor?: string | undefined;
  /** When the read model was asked. */
  readonly as_of: string;
}

export interface AccountFilter {
  /** An account's id, an identity, or the beginning of an e-mail address. */
  readonly q?: string;
  readonly sort?: "created" | "credits";
  readonly limit?: number;
  readonly cursor?: string;
}

/** One account in full, from the account itself. */
export interface InspectedAccount {
  readonly account: Account & {
    readonly name: string | null;
    readonly email: string | null;
    readonly email_verified: boolean;
    readonly created_at: string;
    /** Since when its holder is kept out; null: they are not. */
    readonly suspended_at: string | null;
  };
  readonly reserved: number;
  readonly apps: readonly AppEntry[];
  readonly personal_tokens: readonly PersonalToken[];
  readonly sessions: readonly {
    readonly id: string;
    readonly created_at: string;
    readonly last_used_at: string | null;
    readonly browser: string | null;
    readonly place: string | null;
  }[];
  readonly started_jobs: readonly Job[];
}

export interface FoundJobPage {
  readonly jobs: readonly (Omit<Job, "metadata"> & { readonly identity_id: string })[];
  readonly next_cursor?: string | undefined;
  readonly as_of: string;
}

/** One UTC day. Sums in credits, without sign but `adjusted`. */
export interface DailyTotals {
  readonly day: string;
  readonly granted: number;
  readonly reserved: number;
  readonly settled: number;
  readonly refunded: number;
  readonly purchased: number;
  readonly adjusted: number;
  readonly jobs: number;
  readonly failed: number;
  readonly active_accounts: number;
}

export interface Stats {
  readonly series: readonly DailyTotals[];
  readonly as_of: string;
}

/** A line of the audit log. */
export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly act: string;
  readonly subject: string;
  readonly reason: string | null;
  readonly request_id: string;
  /** `outcome`: `done`, `refused`, `replayed`, or `unknown`. */
  readonly details: Readonly<Record<string, unknown>>;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly next_cursor?: string | undefined;
}

export interface AuditFilter {
  readonly actor?: string;
  readonly act?: string;
  readonly subject?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

/**
 * Each throws {@link PassbookError}; retries are safe, since every act has an idempotency key, made anew
 * for each call where `idempotencyKey` is left out. `identity` is the account holder's.
 */
export interface Admin {
  accounts(filter?: AccountFilter, options?: CallOptions): Promise<FoundAccountPage>;
  account(identity: string, options?: CallOptions): Promise<InspectedAccount>;
  accountJobs(identity: string, filter?: JobFilter, options?: CallOptions): Promise<JobPage>;
  accountLedger(identity: string, filter?: LedgerFilter, options?: CallOptions): Promise<EntryPage>;
  /** Gives credits, or takes them where `amount` is negative; the holder sees the reason. */
  adjustCredits(
    identity: string,
    change: { readonly amount: number; readonly reason: string },
    options?: WriteOptions,
  ): Promise<{ readonly entry: Entry; readonly credits: number }>;
  changePlan(
    identity: string,
    change: { readonly plan: string; readonly reason: string },
    options?: WriteOptions,
  ): Promise<Account>;
  /** Ends all sessions. */
  signOut(
    identity: string,
    why?: { readonly reason?: string },
    options?: WriteOptions,
  ): Promise<void>;
  /** Sends the account to the read model anew. */
  rebuild(identity: string, options?: WriteOptions): Promise<void>;
  /** Keeps the holder out, or lets them in again. */
  suspend(
    identity: string,
    why: { readonly reason: string },
    options?: WriteOptions,
  ): Promise<void>;
  restore(
    identity: string,
    why: { readonly reason: string },
    options?: WriteOptions,
  ): Promise<void>;
  revokePersonalToken(
    identity: string,
    id: string,
    why?: { readonly reason?: string },
    options?: WriteOptions,
  ): Promise<void>;
  jobs(
    filter?: JobFilter & { readonly identity?: string },
    options?: CallOptions,
  ): Promise<FoundJobPage>;
  /** UTC days such as `2026-11-21`, `to` not included. */
  stats(
    filter?: { readonly from?: string; readonly to?: string; readonly app?: string },
    options?: CallOptions,
  ): Promise<Stats>;
  audit(filter?: AuditFilter, options?: CallOptions): Promise<AuditPage>;
}

const pathOf = (identity: string, below = ""): string =>
  `/api/admin/accounts/${encodeURIComponent(identity)}${below}`;

export function createAdmin(transport: Transport, credentials: Credentials): Admin {
  const read = async <Body>(
    path: string,
    query: Call["query"] & object,
    options: CallOptions,
    has: keyof Body,
  ): Promise<Body> => {
    const { signal } = options;
    const call = { method: "GET", repeat: { kind: "read" }, path, query, credentials } as const;
    const body = (await transport.send({ ...call, signal })).body as unknown as Body;
    return checked(body, typeof body[has] === "object" && body[has] !== null);
  };
  const write = (
    call: Pick<Call, "method" | "path" | "body" | "query">,
    { idempotencyKey, signal }: WriteOptions,
  ): Promise<Answer> =>
    transport.send({
      ...call,
      repeat: { kind: "keyed", key: idempotencyKey ?? crypto.randomUUID() },
      credentials,
      signal,
    });
  const post = (identity: string, act: string, body: object, options: WriteOptions) =>
    write({ method: "POST", path: pathOf(identity, `/${act}`), body }, options);
  const done = ({ body }: Answer): void => void checked(body, body["ok"] === true);

  return {
    accounts: (filter = {}, options = {}) =>
      read<FoundAccountPage>("/api/admin/accounts", { ...filter }, options, "accounts"),
    account: (identity, options = {}) =>
      read<InspectedAccount>(pathOf(identity), {}, options, "account"),
    accountJobs: (identity, filter = {}, options = {}) =>
      read<JobPage>(pathOf(identity, "/jobs"), { ...filter }, options, "jobs"),
    accountLedger: (identity, { jobId, from, to, ...rest } = {}, options = {}) => {
      const time = (at: Date | string | undefined) => (at instanceof Date ? at.toISOString() : at);
      const query = { ...rest, job_id: jobId, from: time(from), to: time(to) };
      return read<EntryPage>(pathOf(identity, "/ledger"), query, options, "entries");
    },
    async adjustCredits(identity, { amount, reason }, options = {}) {
      const { body } = await post(identity, "credits", { amount, reason }, options);
      const answer = body as unknown as { entry: Entry; credits: number };
      return checked(answer, answer.entry?.amount === amount);
    },
    async changePlan(identity, { plan, reason }, options = {}) {
      const { body } = await post(identity, "plan", { plan, reason }, options);
      const { account } = body as unknown as { account: Account };
      return checked(account, account?.plan === plan);
    },
    signOut: async (identity, { reason } = {}, options = {}) =>
      done(await post(identity, "signout", { reason }, options)),
    rebuild: async (identity, options = {}) => done(await post(identity, "rebuild", {}, options)),
    suspend: async (identity, { reason }, options = {}) =>
      done(await post(identity, "suspend", { reason }, options)),
    restore: async (identity, { reason }, options = {}) =>
      done(await post(identity, "restore", { reason }, options)),
    async revokePersonalToken(identity, id, { reason } = {}, options = {}) {
      const path = pathOf(identity, `/personal-tokens/${encodeURIComponent(id)}`);
      done(await write({ method: "DELETE", path, query: { reason } }, options));
    },
    jobs: ({ identity, ...rest } = {}, options = {}) =>
      read<FoundJobPage>("/api/admin/jobs", { ...rest, identity_id: identity }, options, "jobs"),
    stats: (filter = {}, options = {}) =>
      read<Stats>("/api/admin/stats", { ...filter }, options, "series"),
    audit: (filter = {}, options = {}) =>
      read<AuditPage>("/api/admin/audit", { ...filter }, options, "entries"),
  };
}
