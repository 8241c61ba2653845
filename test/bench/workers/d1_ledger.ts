/**
 * The simple design on this platform: D1 is the ledger. With `LOCK` bound, one object per account serialises its writes, as
 * most developers would do it. Without it, D1's own transaction refuses an overdraft (`npm run price` counts this cheaper
 * variant).
 */
import { DurableObject } from "cloudflare:workers";
import { v4 as uuidv4, v7 as uuidv7 } from "uuid";
import { createSessionCheck, type SessionSettings } from "./session.ts";

interface LedgerEnv extends SessionSettings {
  readonly DB: D1Database;
  readonly LOCK?: DurableObjectNamespace<Lock>;
}

interface JobRow {
  readonly id: string;
  readonly app_slug: string;
  readonly action: string;
  readonly status: string;
  readonly reserved: number;
  readonly actual_cost: number;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly metadata_json: string | null;
}

interface Creation {
  readonly kind: "create";
  readonly app: string;
  readonly action: string;
  readonly cost: number;
}

type Write =
  | Creation
  | { readonly kind: "complete"; readonly job_id: string; readonly cost: number };

const STARTER_CREDITS = 1_000_000;

async function readAccount(database: D1Database, identity_id: string) {
  const select = database.prepare("select * from accounts where identity_id = ?").bind(identity_id);
  type AccountRow = { id: string; plan: string; credits: number };
  const known = await select.first<AccountRow>();
  if (known !== null) return known;
  await database
    .prepare("insert into accounts values (?, ?, 'free', ?, ?) on conflict do nothing")
    .bind(identity_id, uuidv4(), STARTER_CREDITS, Date.now())
    .run();
  return select.first<AccountRow>();
}

function insertEntry(
  database: D1Database,
  identity_id: string,
  kind: string,
  amount: number,
  job_id: string,
  now_ms: number,
): D1PreparedStatement {
  return database
    .prepare(
      "insert into entries (identity_id, kind, amount, job_id, at_ms) values (?, ?, ?, ?, ?)",
    )
    .bind(identity_id, kind, amount, job_id, now_ms);
}

async function createJob(database: D1Database, identity_id: string, write: Creation) {
  const { app, action, cost } = write;
  const account = await readAccount(database, identity_id);
  if (account === null || account.credits < cost) return null;
  const id = uuidv7();
  const now_ms = Date.now();
  const [taken] = await database.batch<{ credits: number }>([
    database
      .prepare("update accounts set credits = credits - ? where identity_id = ? returning credits")
      .bind(cost, identity_id),
    insertEntry(database, identity_id, "reserve", -cost, id, now_ms),
    database
      .prepare("insert into jobs values (?, ?, 'started', ?, ?, ?, 0, ?, ?, null)")
      .bind(id, identity_id, app, action, cost, now_ms, now_ms),
  ]);
  return { job_id: id, credits: taken?.results[0]?.credits };
}

async function completeJob(
  database: D1Database,
  identity_id: string,
  job_id: string,
  cost: number,
) {
  const job = await database
    .prepare("select * from jobs where id = ? and identity_id = ?")
    .bind(job_id, identity_id)
    .first<JobRow>();
  if (job === null || job.status !== "started") return null;
  const now_ms = Date.now();
  const amount = job.reserved - cost;
  const [given] = await database.batch<{ credits: number }>([
    database
      .prepare("update accounts set credits = credits + ? where identity_id = ? returning credits")
      .bind(amount, identity_id),
    insertEntry(database, identity_id, "settle", amount, job_id, now_ms),
    database
      .prepare(
        "update jobs set status = 'completed', actual_cost = ?, updated_at_ms = ? where id = ?",
      )
      .bind(cost, now_ms, job_id),
  ]);
  const ended = { ...job, status: "completed", actual_cost: cost, updated_at_ms: now_ms };
  return { job: jobView(ended), credits: given?.results[0]?.credits };
}

function applyWrite(
  database: D1Database,
  identity_id: string,
  write: Write,
): Promise<object | null> {
  return write.kind === "create"
    ? createJob(database, identity_id, write)
    : completeJob(database, identity_id, write.job_id, write.cost);
}

/** Serialises the writes of one account. */
export class Lock extends DurableObject<LedgerEnv> {
  #last: Promise<unknown> = Promise.resolve();

  async write(write: Write): Promise<object | null> {
    const next = this.#last.then(() => applyWrite(this.env.DB, this.ctx.id.name ?? "", write));
    this.#last = next.catch(() => null);
    return next;
  }
}

function jobView(row: JobRow) {
  const { id, app_slug, action, status, reserved, actual_cost, metadata_json } = row;
  return {
    id,
    app_slug,
    action,
    status,
    reserved,
    actual_cost,
    failure: null,
    created_at: new Date(row.created_at_ms).toISOString(),
    updated_at: new Date(row.updated_at_ms).toISOString(),
    expires_at: new Date(row.created_at_ms + 86_400_000).toISOString(),
    metadata: metadata_json === null ? null : (JSON.parse(metadata_json) as object),
  };
}

let check: ReturnType<typeof createSessionCheck> | undefined;

async function answer(request: Request, env: LedgerEnv): Promise<object | null> {
  check ??= createSessionCheck(env);
  const identity_id = await check(request.headers.get("Authorization"));
  if (identity_id === null) return null;
  const { pathname } = new URL(request.url);
  if (request.method === "POST") {
    const body = await request.json<Record<string, string & number>>();
    const { action = "", app = "", job_id = "", cost_estimate = 0, actual_cost = 0 } = body;
    const write: Write =
      pathname === "/api/jobs"
        ? { kind: "create", app, action, cost: cost_estimate }
        : { kind: "complete", job_id, cost: actual_cost };
    return env.LOCK === undefined
      ? applyWrite(env.DB, identity_id, write)
      : env.LOCK.getByName(identity_id).write(write);
  }
  if (pathname === "/api/wallet") {
    const account = await readAccount(env.DB, identity_id);
    const { id, plan, credits } = account ?? {};
    const app = {
      slug: "bench",
      starter_credits: STARTER_CREDITS,
      granted: true,
      granted_at: null,
    };
    return { account: { id, identity_id, plan, credits }, apps: [app], app_grant: null };
  }
  const { results } = await env.DB.prepare(
    "select * from jobs where identity_id = ? order by id desc limit 51",
  )
    .bind(identity_id)
    .all<JobRow>();
  const jobs = results.slice(0, 50).map(jobView);
  return { jobs, ...(results.length > 50 ? { next_cursor: jobs.at(-1)?.id } : {}) };
}

export default {
  async fetch(request: Request, env: LedgerEnv): Promise<Response> {
    const body = await answer(request, env);
    return body === null
      ? Response.json({ error: "refused" }, { status: 400 })
      : Response.json(body);
  },
};
