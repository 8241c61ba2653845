/** The prepared queries of requests. Queries that run rarely are in `tables.ts`, and are built when they run. */
import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  isNotNull,
  lte,
  min,
  notInArray,
  sql,
  type SQL,
} from "drizzle-orm";
import { RECENT_JOBS_PORTION } from "../../domain/limits.ts";
import { atMost, isAmong, matches, value, values } from "./parameters.ts";
import {
  account,
  allowances,
  appKeys,
  apps,
  capClaims,
  entries,
  jobs,
  longJobs,
  stuckJobs,
} from "./schema.ts";
import { query } from "./query.ts";

export const the_account = query((database) => database.select().from(account));

export const insert_account = query((database) => {
  const given = values("id", "identity_id", "plan", "created_at_ms");
  return database.insert(account).values({ singleton: 1, ...given });
});

export const all_apps = query((database) =>
  database.select().from(apps).orderBy(asc(apps.created_at_ms), asc(apps.slug)),
);

export const app_by_slug = query((database) =>
  database.select().from(apps).where(matches(apps.slug)),
);

export const save_app = query((database) => {
  const set = values(
    "starter_credits",
    "granted_at_ms",
    "created_at_ms",
    "access",
    "is_registered",
    "opened_after_line",
  );
  return database
    .insert(apps)
    .values({ slug: value("slug"), ...set })
    .onConflictDoUpdate({ target: apps.slug, set });
});

export const app_key_by_hash = query((database) =>
  database.select().from(appKeys).where(matches(appKeys.key_hash)),
);

export const save_app_key = query((database) => {
  const set = values("app_slug", "accepted_at_ms");
  return database
    .insert(appKeys)
    .values({ key_hash: value("key_hash"), ...set })
    .onConflictDoUpdate({ target: appKeys.key_hash, set });
});

export const newest_entry = query((database) =>
  database.select().from(entries).orderBy(desc(entries.line)).limit(atMost(1)),
);

export const entry_by_line = query((database) =>
  database.select().from(entries).where(matches(entries.line)),
);

export const entries_between = query((database) =>
  database
    .select()
    .from(entries)
    .where(and(gt(entries.line, value("after_line")), lte(entries.line, value("to_line"))))
    .orderBy(asc(entries.line)),
);

export const insert_entry = query((database) => {
  const { line, balance_after, reserved_after } = entries;
  return database
    .insert(entries)
    .values({
      ...values("line", "kind", "amount", "balance_after", "reserved_after"),
      ...values("job_id", "previous_line", "app_slug", "note", "at_ms"),
      ...values("open_jobs", "recent_after_job_id", "recent_jobs"),
    })
    .returning({ line, balance_after, reserved_after });
});

export const job_by_id = query((database) => database.select().from(jobs).where(matches(jobs.id)));

export const jobs_by_ids = query((database) =>
  database
    .select()
    .from(jobs)
    .where(isAmong(jobs.id, value("ids_json"))),
);

export const newest_job = query((database) =>
  database.select({ id: jobs.id }).from(jobs).orderBy(desc(jobs.id)).limit(atMost(1)),
);

export const end_of_portion = query((database) =>
  database
    .select({ id: jobs.id })
    .from(jobs)
    .where(gt(jobs.id, value("after_id")))
    .orderBy(asc(jobs.id))
    .limit(atMost(1))
    .offset(atMost(RECENT_JOBS_PORTION - 1)),
);

const isNotSetAside = sql`not exists (
  select 1 from ${stuckJobs} where ${stuckJobs.job_id} = ${jobs.id})`;

export const recent_started_jobs = query((database) =>
  database
    .select({ id: jobs.id, expires_at_ms: jobs.expires_at_ms })
    .from(jobs)
    .where(and(gt(jobs.id, value("after_id")), eq(jobs.status, "started"), isNotSetAside)),
);

/** The job is started; see `ledger/started_jobs.ts`. */
export function isKnownStarted(recent_after_id: SQL): SQL {
  return sql`${jobs.id} in (
    select ${longJobs.job_id} from ${longJobs}
    union all select id from jobs where id > ${recent_after_id} and status = 'started'
    union all select job_id from stuck_jobs)`;
}

export const started_jobs_by_creator = query((database) => {
  const { allowance_path, app_slug } = jobs;
  return database
    .select({ allowance_path, app_slug, jobs: count() })
    .from(jobs)
    .where(isKnownStarted(value("recent_after_id")))
    .groupBy(allowance_path, app_slug);
});

export const jobs_of_ended_allowances = query((database) => {
  const { id, allowance_path } = jobs;
  const { revoked_at_ms } = allowances;
  const has_ended = sql`exists (
    select 1 from json_each('["' || replace(${allowance_path}, ' ', '","') || '"]')
    where value in (select id from ${allowances} where ${revoked_at_ms} is not null))`;
  const set_aside = database.select({ id: stuckJobs.job_id }).from(stuckJobs);
  return database
    .select({ id })
    .from(jobs)
    .where(
      and(
        isKnownStarted(value("recent_after_id")),
        isNotNull(allowance_path),
        has_ended,
        notInArray(id, set_aside),
      ),
    )
    .limit(atMost("limit"));
});

export const insert_job = query((database) =>
  database.insert(jobs).values({
    ...values("id", "status", "app_slug", "action", "cost_estimate", "reserved", "actual_cost"),
    ...values("refunded"),
    ...values("failure", "failure_reason", "created_at_ms", "updated_at_ms", "expires_at_ms"),
    ...values("line", "metadata_json"),
    ...values("allowance_path", "is_capped", "approved", "takings_json", "claimed_until_ms"),
    ...values("settle", "on_expiry", "max_overage_percent"),
    ...values("idempotency_caller", "idempotency_key", "idempotency_fingerprint"),
  }),
);

export const update_job = query((database) =>
  database
    .update(jobs)
    .set({
      ...values("status", "reserved", "actual_cost", "refunded", "failure", "failure_reason"),
      ...values("step", "spent", "progress_json", "takings_json", "claimed_until_ms"),
      ...values("updated_at_ms", "expires_at_ms", "line", "metadata_json"),
      ...values("idempotency_caller", "idempotency_key", "idempotency_fingerprint"),
    })
    .where(matches(jobs.id)),
);

export const insert_long_job = query((database) =>
  database
    .insert(longJobs)
    .values({ expires_at_ms: value("expires_at_ms"), job_id: value("id") })
    .onConflictDoNothing(),
);

export const insert_long_jobs = query((database) =>
  database.insert(longJobs).select(
    database
      .select({ expires_at_ms: jobs.expires_at_ms, job_id: jobs.id })
      .from(jobs)
      .where(
        and(
          gt(jobs.id, value("after_id")),
          lte(jobs.id, value("to_id")),
          eq(jobs.status, "started"),
          isNotSetAside,
        ),
      ),
  ),
);

export const delete_long_job = query((database) =>
  database
    .delete(longJobs)
    .where(and(matches(longJobs.expires_at_ms), eq(longJobs.job_id, value("id")))),
);

export const first_long_expiry = query((database) =>
  database
    .select({ at_ms: longJobs.expires_at_ms })
    .from(longJobs)
    .orderBy(asc(longJobs.expires_at_ms))
    .limit(atMost(1)),
);

export const long_jobs_due = query((database) =>
  database
    .select({ id: longJobs.job_id })
    .from(longJobs)
    .where(lte(longJobs.expires_at_ms, value("to_ms")))
    .orderBy(asc(longJobs.expires_at_ms))
    .limit(atMost("limit")),
);

export const first_stuck_retry = query((database) =>
  database.select({ at_ms: min(stuckJobs.retry_at_ms) }).from(stuckJobs),
);

export const stuck_jobs_due = query((database) =>
  database
    .select({ id: stuckJobs.job_id })
    .from(stuckJobs)
    .where(lte(stuckJobs.retry_at_ms, value("to_ms")))
    .limit(atMost("limit")),
);

export const first_claim_end = query((database) =>
  database.select({ at_ms: min(capClaims.claimed_until_ms) }).from(capClaims),
);

export const claims_due = query((database) =>
  database
    .select({ id: capClaims.job_id })
    .from(capClaims)
    .where(lte(capClaims.claimed_until_ms, value("to_ms")))
    .limit(atMost("limit")),
);
