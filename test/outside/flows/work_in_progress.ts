/** Work that spans releases, with its checks: a capped token, idempotency keys and started jobs. */
import { expect, vi } from "vitest";
import { deviceLogin, signIn, type Person } from "../../bench/people.ts";
import type { Stage } from "./stage.ts";

const APP = "bench";
const CAP = 30;

export interface Reply {
  readonly status: number;
  readonly replayed: boolean;
  readonly retry_after: string | null;
  readonly body: Record<string, unknown> & {
    readonly job_id: string;
    readonly credits: number;
    readonly code: string;
  };
}

/** A request with the header lines of a caller. */
export async function call(
  { url }: Pick<Stage, "url">,
  proof: readonly string[],
  path: string,
  body?: object,
  key?: string,
): Promise<Reply> {
  const [authorization = ""] = proof;
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      Authorization: authorization.slice("Authorization: ".length),
      "Content-Type": "application/json",
      ...(key === undefined ? {} : { "Idempotency-Key": key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { status, headers } = response;
  return {
    status,
    replayed: headers.get("Idempotency-Replayed") === "true",
    retry_after: headers.get("Retry-After"),
    body: (await response.json()) as Reply["body"],
  };
}

/** The body that creates a job. */
export const job = (cost_estimate: number): object => ({ app: APP, action: "draw", cost_estimate });

export interface InFlight {
  readonly identity_id: string;
  readonly session: readonly string[];
  /** A token with a cap of {@link CAP} in total. */
  readonly capped: readonly string[];
  /** A started job of the token, which holds 20 of the cap. */
  readonly capped_job: string;
  /** A started job of the holder's session that holds 10. */
  readonly session_job: string;
}

/** A person with 100 credits, a capped token, keys that were used, and two started jobs. */
export async function openWork(stage: Stage, email: string): Promise<InFlight> {
  const person: Person = await signIn(stage.url, email);
  expect((await call(stage, person.session, `/api/wallet?app=${APP}`)).status).toBe(200);
  const limits = { scopes: ["read", "write"], caps: [{ credits: CAP, period: "total" }] };
  const capped = await deviceLogin(stage.url, person, limits);
  const first = await call(stage, capped, "/api/jobs", job(20), "create-capped");
  const second = await call(stage, person.session, "/api/jobs", job(10), "create-session");
  expect([first.status, second.status, second.body.credits]).toEqual([200, 200, 70]);
  const { identity_id, session } = person;
  return {
    identity_id,
    session,
    capped,
    capped_job: first.body.job_id,
    session_job: second.body.job_id,
  };
}

/** Expects that the other build respects the keys, the cap and the held credits of the first one. */
export async function continueWork(
  stage: Stage,
  { session, capped, capped_job, session_job }: InFlight,
): Promise<void> {
  const retried = await call(stage, capped, "/api/jobs", job(20), "create-capped");
  expect({ ...retried, job_id: retried.body.job_id }).toMatchObject({
    status: 200,
    replayed: true,
    job_id: capped_job,
  });
  expect(await call(stage, capped, "/api/jobs", job(11), "create-capped-2")).toMatchObject({
    status: 402,
  });
  expect((await call(stage, session, "/api/jobs", job(10), "create-session")).replayed).toBe(true);
  const completed = await call(
    stage,
    session,
    "/api/jobs/complete",
    { job_id: session_job, actual_cost: 4 },
    "complete",
  );
  expect(completed).toMatchObject({ status: 200, replayed: false, body: { credits: 76 } });
  const settled = await call(
    stage,
    capped,
    "/api/jobs/complete",
    { job_id: capped_job, actual_cost: 18 },
    "complete",
  );
  expect(settled).toMatchObject({ status: 200, body: { credits: 78 } });
}

/** Expects after {@link continueWork} that nothing was charged twice, the cap holds, and the ledger adds up to the balance. */
export async function finishWork(
  stage: Stage,
  { session, capped, capped_job }: InFlight,
): Promise<void> {
  const again = await call(
    stage,
    capped,
    "/api/jobs/complete",
    { job_id: capped_job, actual_cost: 18 },
    "complete",
  );
  expect(again).toMatchObject({ status: 200, replayed: true, body: { credits: 78 } });
  expect((await call(stage, capped, "/api/jobs", job(13))).status).toBe(402);
  const last = await call(stage, capped, "/api/jobs", job(12));
  expect(last).toMatchObject({ status: 200, body: { credits: 66 } });
  const failed = await call(stage, capped, "/api/jobs/fail", { job_id: last.body.job_id });
  expect(failed).toMatchObject({ status: 200, body: { credits: 78 } });
  const { body } = await call(stage, session, "/api/ledger?limit=200");
  const entries = body["entries"] as { amount: number; balance_after: number }[];
  expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(78);
  expect(entries[0]?.balance_after).toBe(78);
}

/** Waits until D1 has the account as {@link finishWork} leaves it, and the day's totals with each entry once. */
export async function expectReadModel(stage: Stage, { identity_id }: InFlight): Promise<void> {
  const database = await stage.database("DB");
  await vi.waitFor(
    async () => {
      const account = await database
        .prepare("select credits, reserved from accounts where identity_id = ?")
        .bind(identity_id)
        .first();
      expect(account).toEqual({ credits: 78, reserved: 0 });
      const totals = await database
        .prepare(
          "select sum(granted) as granted, sum(settled) as settled, sum(jobs) as jobs from daily_totals",
        )
        .first();
      expect(totals).toEqual({ granted: 100, settled: 22, jobs: 3 });
    },
    { timeout: 60_000, interval: 500 },
  );
}
