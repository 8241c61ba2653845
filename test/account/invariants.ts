/** What must hold of every account at every moment (design, section 6), read from storage itself. */
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { fireAlarm, readContents, type Contents } from "./object.ts";

/** Holds all invariants against the object's tables, and the read model's once it is up to date. */
export async function expectInvariants(identity_id: string): Promise<void> {
  const contents = await readContents(identity_id);
  expectLedger(contents);
  expectJobs(contents);
  expectGrants(contents);
  await fireAlarm(identity_id);
  await expectReadModel(identity_id);
}

/** Lines run without gaps, and each balance is the one before plus the amount. */
function expectLedger({ entries }: Contents): void {
  let balance = 0;
  entries.forEach((entry, index) => {
    expect(entry.line).toBe(index + 1);
    balance += entry.amount;
    expect(entry.balance_after).toBe(balance);
    expect(entry.projected_line).toBeLessThan(entry.line);
  });
}

/** Each reserve resolves at most once, and what is reserved is what started jobs hold. */
function expectJobs({ entries, jobs }: Contents): void {
  let held = 0;
  for (const job of jobs) {
    const lines = entries.filter((entry) => entry.job_id === job.id);
    const kinds = lines.map((line) => line.kind);
    const spent = 0 - lines.reduce((sum, line) => sum + line.amount, 0);
    expect(job.line).toBe(lines.at(-1)?.line);
    if (job.status === "started") {
      expect(kinds).toEqual(["reserve"]);
      expect(spent).toBe(job.reserved);
      held += job.reserved;
    } else {
      expect(spent).toBe(job.actual_cost);
      // A job that timed out may be charged late, and only then are there three lines.
      expect([
        ["reserve", "settle"],
        ["reserve", "refund"],
        ["reserve", "refund", "settle"],
      ]).toContainEqual(kinds);
    }
  }
  const reserved_by_ledger = entries
    .filter((entry) => jobs.find((job) => job.id === entry.job_id)?.status === "started")
    .reduce((sum, entry) => sum - entry.amount, 0);
  expect(reserved_by_ledger).toBe(held);
  const started = jobs.filter((job) => job.status === "started");
  expect(entries.at(-1)?.open_jobs ?? 0).toBe(started.length);
  const oldest_open = jobs.find((job) => job.status === "started")?.id ?? null;
  expect(entries.at(-1)?.oldest_open_job_id ?? null).toBe(oldest_open);
}

/** One grant for each granted app; credits come from nowhere else. */
function expectGrants({ entries, apps, jobs }: Contents): void {
  const granted = entries.filter((entry) => entry.kind === "grant");
  expect(new Map(granted.map((entry) => [entry.app_slug, entry.amount]))).toEqual(
    new Map(
      apps
        .filter((app) => app.granted_at_ms !== null)
        .map((app) => [app.slug, app.starter_credits]),
    ),
  );
  expect(granted).toHaveLength(new Set(granted.map((entry) => entry.app_slug)).size);
  const put_in = granted.reduce((sum, entry) => sum + entry.amount, 0);
  const taken = jobs.reduce(
    (sum, job) => sum + (job.status === "started" ? job.reserved : job.actual_cost),
    0,
  );
  expect(entries.at(-1)?.balance_after ?? 0).toBe(put_in - taken);
}

/** D1 shows the same jobs, and its derived balance is the ledger's. */
export async function expectReadModel(identity_id: string): Promise<void> {
  const { entries, jobs } = await readContents(identity_id);
  const account = await env.DB.prepare(
    "select id, credits from accounts join account_balances on account_id = id where identity_id = ?",
  )
    .bind(identity_id)
    .first<{ id: string; credits: number }>();
  expect(account?.credits ?? null).toBe(entries.at(-1)?.balance_after ?? null);
  const projected = await env.DB.prepare(
    "select id, status, actual_cost, version from jobs where account_id = ? order by id",
  )
    .bind(account?.id ?? "")
    .all();
  expect(projected.results).toEqual(
    jobs.map(({ id, status, actual_cost, line }) => ({ id, status, actual_cost, version: line })),
  );
}
