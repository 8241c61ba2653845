/**
 * The floor: the least that this platform needs for the same work. A bare object with Passbook's statements as plain SQL
 * behind the same signature check, without a framework, validation, rules, a read model, personal access tokens or stored
 * responses.
 */
import { DurableObject } from "cloudflare:workers";
import { v4 as uuidv4, v7 as uuidv7 } from "uuid";
import { createSessionCheck, type SessionSettings } from "./session.ts";

interface FloorEnv extends SessionSettings {
  readonly ACCOUNT: DurableObjectNamespace<Account>;
}

type Row = Record<string, SqlStorageValue>;

const TABLES = `
  create table if not exists account (singleton integer primary key, id text not null,
    identity_id text not null, plan text not null, created_at_ms integer not null);
  create table if not exists apps (slug text primary key, starter_credits integer not null,
    granted_at_ms integer, created_at_ms integer not null) without rowid;
  create table if not exists entries (line integer primary key, kind text not null,
    amount integer not null, balance_after integer not null, reserved_after integer not null,
    job_id text, app_slug text, at_ms integer not null);
  create table if not exists jobs (id text primary key, status text not null, app_slug text,
    action text not null, reserved integer not null, actual_cost integer not null, failure text,
    created_at_ms integer not null, updated_at_ms integer not null, expires_at_ms integer not null,
    line integer not null, metadata_json text, personal_token_id text) without rowid;`;

const STARTER_CREDITS = 1_000_000;
const DAY_MS = 86_400_000;

export class Account extends DurableObject<FloorEnv> {
  readonly #sql: SqlStorage;

  constructor(ctx: DurableObjectState, env: FloorEnv) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#sql.exec(TABLES);
  }

  wallet() {
    return this.ctx.storage.transactionSync(() => {
      const newest = this.#newest() ?? this.#open();
      const account = this.#one("select * from account");
      const apps = this.#sql.exec<Row>("select * from apps order by created_at_ms, slug").toArray();
      return { account, apps, credits: newest["balance_after"] ?? 0 };
    });
  }

  create(action: string, app_slug: string, cost: number) {
    return this.ctx.storage.transactionSync(() => {
      const newest = this.#newest() ?? this.#open();
      if (Number(newest["balance_after"]) < cost) return null;
      this.#one("select id from jobs order by id desc limit 1");
      const id = uuidv7();
      const now_ms = Date.now();
      const credits = this.#post(newest, "reserve", -cost, cost, id, app_slug, now_ms);
      const line = Number(newest["line"]) + 1;
      this.#write(
        "insert into jobs values (?, 'started', ?, ?, ?, 0, null, ?, ?, ?, ?, null, null)",
        [id, app_slug, action, cost, now_ms, now_ms, now_ms + DAY_MS, line],
      );
      return { job_id: id, credits };
    });
  }

  complete(job_id: string, actual_cost: number) {
    return this.ctx.storage.transactionSync(() => {
      const job = this.#one("select * from jobs where id = ?", job_id);
      const newest = this.#newest();
      if (job === null || newest === null || job["status"] !== "started") return null;
      const now_ms = Date.now();
      const reserved = Number(job["reserved"]);
      const app_slug = job["app_slug"] ?? null;
      const amount = reserved - actual_cost;
      const credits = this.#post(newest, "settle", amount, -reserved, job_id, app_slug, now_ms);
      this.#write(
        `update jobs set status = 'completed', actual_cost = ?, failure = null, updated_at_ms = ?,
          line = ?, metadata_json = ? where id = ?`,
        [actual_cost, now_ms, Number(newest["line"]) + 1, job["metadata_json"] ?? null, job_id],
      );
      return { job: { ...job, status: "completed", actual_cost, updated_at_ms: now_ms }, credits };
    });
  }

  list(limit: number) {
    // SQLite would plan a bare parameter again on each run.
    return this.#sql
      .exec<Row>("select * from jobs order by id desc limit ? + 0", limit + 1)
      .toArray();
  }

  #one(statement: string, ...values: SqlStorageValue[]): Row | null {
    return this.#sql.exec<Row>(statement, ...values).toArray()[0] ?? null;
  }

  #write(statement: string, values: readonly SqlStorageValue[]): void {
    this.#sql.exec(statement, ...values);
  }

  #newest(): Row | null {
    return this.#one("select * from entries order by line desc limit 1");
  }

  #open(): Row {
    const now_ms = Date.now();
    const identity_id = this.ctx.id.name ?? "";
    this.#sql.exec(
      "insert into account values (1, ?, ?, 'free', ?)",
      uuidv4(),
      identity_id,
      now_ms,
    );
    this.#sql.exec("insert into apps values ('bench', ?, ?, ?)", STARTER_CREDITS, now_ms, now_ms);
    this.#post(null, "grant", STARTER_CREDITS, 0, null, "bench", now_ms);
    return this.#newest() ?? {};
  }

  #post(
    newest: Row | null,
    kind: string,
    amount: number,
    held: number,
    job_id: string | null,
    app_slug: SqlStorageValue,
    now_ms: number,
  ): number {
    const balance = Number(newest?.["balance_after"] ?? 0) + amount;
    const reserved = Number(newest?.["reserved_after"] ?? 0) + held;
    const line = Number(newest?.["line"] ?? 0) + 1;
    this.#write("insert into entries values (?, ?, ?, ?, ?, ?, ?, ?)", [
      line,
      kind,
      amount,
      balance,
      reserved,
      job_id,
      app_slug,
      now_ms,
    ]);
    return balance;
  }
}

function timestamp(at_ms: SqlStorageValue | undefined): string {
  return new Date(Number(at_ms)).toISOString();
}

function jobView(row: Row) {
  const { id, app_slug, action, status, reserved, actual_cost, failure, metadata_json } = row;
  return {
    id,
    app_slug,
    action,
    status,
    reserved,
    actual_cost,
    failure,
    created_at: timestamp(row["created_at_ms"]),
    updated_at: timestamp(row["updated_at_ms"]),
    expires_at: timestamp(row["expires_at_ms"]),
    metadata: typeof metadata_json === "string" ? (JSON.parse(metadata_json) as object) : null,
  };
}

let check: ReturnType<typeof createSessionCheck> | undefined;

async function answer(request: Request, env: FloorEnv): Promise<object | null> {
  check ??= createSessionCheck(env);
  const identity_id = await check(request.headers.get("Authorization"));
  if (identity_id === null) return null;
  const account = env.ACCOUNT.getByName(identity_id);
  const { pathname } = new URL(request.url);
  if (request.method === "POST") {
    const body = await request.json<Record<string, string & number>>();
    const { action = "", app = "", job_id = "", cost_estimate = 0, actual_cost = 0 } = body;
    if (pathname === "/api/jobs") return account.create(action, app, cost_estimate);
    const settled = await account.complete(job_id, actual_cost);
    return settled === null ? null : { job: jobView(settled.job), credits: settled.credits };
  }
  if (pathname === "/api/wallet") {
    const wallet = await account.wallet();
    const { id, identity_id: owner, plan } = wallet.account ?? {};
    return {
      account: { id, identity_id: owner, plan, credits: wallet.credits },
      apps: wallet.apps.map(({ slug, starter_credits, granted_at_ms }) => ({
        slug,
        starter_credits,
        granted: granted_at_ms !== null,
        granted_at: granted_at_ms === null ? null : timestamp(granted_at_ms),
      })),
      app_grant: null,
    };
  }
  const limit = 50;
  const rows = await account.list(limit);
  const jobs = rows.slice(0, limit).map(jobView);
  const next_cursor = rows.length > limit ? jobs.at(-1)?.id : undefined;
  return { jobs, ...(next_cursor === undefined ? {} : { next_cursor }) };
}

export default {
  async fetch(request: Request, env: FloorEnv): Promise<Response> {
    const body = await answer(request, env);
    return body === null
      ? Response.json({ error: "refused" }, { status: 400 })
      : Response.json(body);
  },
};
