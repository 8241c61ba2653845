/**
 * The peer: the same service on one machine, as an experienced engineer would write it in an afternoon with Node, Hono and
 * PostgreSQL: a connection pool, and one transaction with a lock on the account's row for each write.
 * `node peer.ts PORT DATABASE_URL`, with settings from the environment.
 */
import { serve } from "@hono/node-server";
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import postgres from "postgres";
import { v4 as uuidv4, v7 as uuidv7 } from "uuid";
import * as z from "zod";
import { createSessionCheck } from "./workers/session.ts";

const [port = "", database_url = ""] = process.argv.slice(2);
const { SIGNING_KEYS = "", ISSUER = "" } = process.env;
const STARTER_CREDITS = 1_000_000;
const POOL_CONNECTIONS = 16;

const sql = postgres(database_url, { max: POOL_CONNECTIONS, onnotice: () => undefined });
const check = createSessionCheck({ SIGNING_KEYS, ISSUER });

interface AccountRow {
  readonly id: string;
  readonly plan: string;
  readonly credits: string;
}

interface JobRow {
  readonly id: string;
  readonly app_slug: string;
  readonly action: string;
  readonly status: string;
  readonly reserved: string;
  readonly actual_cost: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly metadata: object | null;
}

await sql`create table if not exists accounts (identity_id text primary key, id uuid not null,
  plan text not null, credits bigint not null)`;
await sql`create table if not exists jobs (id uuid primary key, identity_id text not null,
  status text not null, app_slug text, action text not null, reserved bigint not null,
  actual_cost bigint not null, created_at timestamptz not null, updated_at timestamptz not null,
  metadata jsonb)`;
await sql`create index if not exists jobs_by_account on jobs (identity_id, id)`;
await sql`create table if not exists entries (line bigserial primary key, identity_id text not null,
  kind text not null, amount bigint not null, balance_after bigint not null, job_id uuid,
  at timestamptz not null)`;

async function readAccount(identity_id: string): Promise<AccountRow | undefined> {
  const [known] = await sql<
    AccountRow[]
  >`select * from accounts where identity_id = ${identity_id}`;
  if (known !== undefined) return known;
  await sql`insert into accounts values (${identity_id}, ${uuidv4()}, 'free', ${STARTER_CREDITS})
    on conflict do nothing`;
  return readAccount(identity_id);
}

function jobView(job: JobRow) {
  return {
    id: job.id,
    app_slug: job.app_slug,
    action: job.action,
    status: job.status,
    reserved: Number(job.reserved),
    actual_cost: Number(job.actual_cost),
    failure: null,
    created_at: job.created_at.toISOString(),
    updated_at: job.updated_at.toISOString(),
    expires_at: new Date(job.created_at.getTime() + 86_400_000).toISOString(),
    metadata: job.metadata,
  };
}

const app = new Hono<{ Variables: { identity_id: string } }>();

app.use(async (context, next) => {
  const identity_id = await check(context.req.header("Authorization"));
  if (identity_id === null) return context.json({ error: "unauthorized" }, 401);
  context.set("identity_id", identity_id);
  return next();
});

app.get("/api/wallet", async (context) => {
  const identity_id = context.get("identity_id");
  const account = await readAccount(identity_id);
  const { id, plan, credits } = account ?? {};
  const grant = { slug: "bench", starter_credits: STARTER_CREDITS, granted: true };
  return context.json({
    account: { id, identity_id, plan, credits: Number(credits) },
    apps: [{ ...grant, granted_at: null }],
    app_grant: null,
  });
});

app.get("/api/jobs", async (context) => {
  const rows = await sql<JobRow[]>`select * from jobs
    where identity_id = ${context.get("identity_id")} order by id desc limit 51`;
  const jobs = rows.slice(0, 50).map(jobView);
  return context.json({ jobs, ...(rows.length > 50 ? { next_cursor: jobs.at(-1)?.id } : {}) });
});

const cost = z.int().min(0);
const creation = z.object({ app: z.string(), action: z.string(), cost_estimate: cost });

app.post("/api/jobs", zValidator("json", creation), async (context) => {
  const identity_id = context.get("identity_id");
  const { app: app_slug, action, cost_estimate } = context.req.valid("json");
  const created = await sql.begin(async (transaction) => {
    const [account] = await transaction<AccountRow[]>`select * from accounts
      where identity_id = ${identity_id} for update`;
    if (account === undefined || Number(account.credits) < cost_estimate) return null;
    const job_id = uuidv7();
    const credits = Number(account.credits) - cost_estimate;
    const now = new Date();
    await transaction`update accounts set credits = ${credits} where identity_id = ${identity_id}`;
    await transaction`insert into entries (identity_id, kind, amount, balance_after, job_id, at)
      values (${identity_id}, 'reserve', ${-cost_estimate}, ${credits}, ${job_id}, ${now})`;
    await transaction`insert into jobs values (${job_id}, ${identity_id}, 'started', ${app_slug},
      ${action}, ${cost_estimate}, 0, ${now}, ${now}, null)`;
    return { job_id, credits };
  });
  return created === null
    ? context.json({ error: "insufficient credits" }, 402)
    : context.json(created);
});

const completion = z.object({ job_id: z.uuid(), actual_cost: cost });

app.post("/api/jobs/complete", zValidator("json", completion), async (context) => {
  const identity_id = context.get("identity_id");
  const { job_id, actual_cost } = context.req.valid("json");
  const settled = await sql.begin(async (transaction) => {
    const [account] = await transaction<AccountRow[]>`select * from accounts
      where identity_id = ${identity_id} for update`;
    const [job] = await transaction<JobRow[]>`select * from jobs
      where id = ${job_id} and identity_id = ${identity_id}`;
    if (account === undefined || job?.status !== "started") return null;
    const amount = Number(job.reserved) - actual_cost;
    const credits = Number(account.credits) + amount;
    const now = new Date();
    await transaction`update accounts set credits = ${credits} where identity_id = ${identity_id}`;
    await transaction`insert into entries (identity_id, kind, amount, balance_after, job_id, at)
      values (${identity_id}, 'settle', ${amount}, ${credits}, ${job_id}, ${now})`;
    const [ended] = await transaction<JobRow[]>`update jobs set status = 'completed',
      actual_cost = ${actual_cost}, updated_at = ${now} where id = ${job_id} returning *`;
    return ended === undefined ? null : { job: jobView(ended), credits };
  });
  return settled === null ? context.json({ error: "job unknown" }, 400) : context.json(settled);
});

const server = serve({ fetch: app.fetch, port: Number(port), hostname: "127.0.0.1" }, () =>
  process.send?.("ready"),
);
const stop = (): void => {
  server.close();
  void sql.end({ timeout: 1 }).finally(() => process.exit(0));
};
process.once("SIGTERM", stop);
process.once("disconnect", stop);
