/** The jobs of one account: what the book says about each of their responses. */
import { expectRule } from "./caller.ts";
import type { Book } from "./book.ts";
import { APP, OTHER_APP } from "./registrations.ts";
import type { Requests } from "./requests.ts";

/** What is looked at again after each kill: the newest. */
const KEPT = 20;
const STARTED_MAX = 3;

interface Job {
  readonly id: string;
  readonly reserved: number;
}

/** A caller with a cap. `spent`: what its jobs cost, less what was given back of it. */
export interface Spender {
  spent: number;
}

interface Ended extends Job {
  readonly status: "completed" | "failed";
  readonly actual_cost: number;
  readonly refunded: number;
  readonly spender: Spender | null;
}

/** Who starts and ends a job. */
interface By {
  readonly proof?: readonly string[];
  readonly app?: string;
  readonly spender?: Spender;
  /** Whether the responses say what the account has. */
  readonly sees_credits?: boolean;
  /** Of this job, beyond a cap. */
  readonly approval?: string;
}

export class Jobs {
  readonly #requests: Requests;
  readonly #book: Book;
  #started: Job[] = [];
  #ended: Ended[] = [];
  #newest_id: string | null = null;

  constructor(requests: Requests, book: Book) {
    this.#requests = requests;
    this.#book = book;
  }

  /** The credits that started jobs hold. */
  get held(): number {
    return this.#started.reduce((sum, { reserved }) => sum + reserved, 0);
  }

  /** Starts a job or ends one, so that some are always started. */
  async run(): Promise<void> {
    const [oldest] = this.#started;
    if (oldest === undefined || this.#started.length < STARTED_MAX || Math.random() < 0.5) {
      await this.create(5, Math.random() < 0.3 ? { app: OTHER_APP } : {});
    } else await this.end(oldest, Math.random() < 0.8 ? 2 : null);
  }

  async create(cost_estimate: number, by: By = {}): Promise<Job> {
    const { proof, app = APP, sees_credits = true, approval } = by;
    const job_of = { app, action: "draw", cost_estimate, metadata: { note: "soak" } };
    const body = { ...job_of, ...(approval !== undefined && { approval }) };
    const answer = await this.#requests.once("/api/jobs", body, proof);
    const { job_id: id, credits } = answer.json as { job_id: string; credits: number | null };
    this.#book.note(
      "a creation",
      answer,
      (it) => it.reserve(app, id, cost_estimate),
      (it) => (sees_credits ? it.balance : null),
      credits,
    );
    const job = { id, reserved: cost_estimate };
    this.#started.push(job);
    this.#newest_id = id;
    return job;
  }

  /** Completes a job at a cost; null: it fails. */
  async end(job: Job, cost: number | null, by: By = {}): Promise<void> {
    const { proof, sees_credits = true, spender = null } = by;
    const { id: job_id } = job;
    const path = cost === null ? "/api/jobs/fail" : "/api/jobs/complete";
    const body = cost === null ? { job_id } : { job_id, actual_cost: cost };
    const answer = await this.#requests.once(path, body, proof);
    const actual_cost = cost ?? 0;
    this.#book.note(
      "an end",
      answer,
      (it, now_ms) => it.end(job_id, actual_cost, now_ms),
      (it) => (sees_credits ? it.balance : null),
      answer.json.credits,
    );
    this.#started = this.#started.filter(({ id }) => id !== job_id);
    const status = cost === null ? "failed" : "completed";
    this.#ended.push({ ...job, status, actual_cost, refunded: 0, spender });
    if (spender !== null) spender.spent += actual_cost;
    this.#forgetOldest();
  }

  async runBatch(): Promise<void> {
    const job = { app: APP, action: "draw", cost_estimate: 2 };
    const created = await this.#requests.once("/api/jobs/batch", { jobs: [job, job, job] });
    const ids = created.json.results.map(({ job_id }: { job_id: string }) => job_id) as string[];
    this.#book.note(
      "a batch",
      created,
      (it) => ids.forEach((id) => it.reserve(APP, id, job.cost_estimate)),
      (it) => it.balance,
      created.json.credits,
    );
    const jobs = ids.map((job_id) => ({ job_id, actual_cost: 1 }));
    const ended = await this.#requests.once("/api/jobs/complete/batch", { jobs });
    this.#book.note(
      "an ended batch",
      ended,
      (it, now_ms) => {
        for (const id of ids) it.end(id, 1, now_ms);
        for (const id of ids) it.forgetJob(id);
      },
      (it) => it.balance,
      ended.json.credits,
    );
    this.#newest_id = ids.at(-1) ?? null;
  }

  async reportProgress(): Promise<void> {
    const job = this.#started.at(-1);
    if (job === undefined) return;
    const body = { job_id: job.id, step: 1, done: 0.5, message: "halfway" };
    const { status, text } = await this.#requests.ask("POST", "/api/jobs/progress", body);
    expectRule(status === 200 || status === 409, `progress is reported: ${status} ${text}`);
  }

  async list(): Promise<void> {
    const { json } = await this.#requests.read("/api/jobs?limit=50");
    const newest = json.jobs[0]?.id ?? null;
    expectRule(newest === this.#newest_id, `the newest job is listed first: ${newest}`);
  }

  /** An operator gives back one credit of a job's cost. */
  async refund(operator: readonly string[]): Promise<void> {
    const at = this.#ended.findIndex(({ actual_cost, refunded }) => refunded < actual_cost);
    const job = this.#ended[at];
    if (job === undefined) return;
    const { identity_id } = this.#requests;
    const path = `/api/admin/accounts/${identity_id}/jobs/${job.id}/refund`;
    const answer = await this.#requests.once(path, { amount: 1, reason: "soak" }, operator);
    this.#book.note(
      "a refund",
      answer,
      (it, now_ms) => it.refund(job.id, 1, now_ms),
      (it) => it.balance,
      answer.json.credits,
    );
    this.#ended[at] = { ...job, refunded: job.refunded + 1 };
    // The cap gets the room back.
    if (job.spender !== null) job.spender.spent -= 1;
  }

  /** Checks that each job is as answered. */
  async check(): Promise<void> {
    for (const { id } of this.#started) {
      const { json } = await this.#requests.read(`/api/jobs/${id}`);
      expectRule(json.status === "started", `job ${id} is as answered: ${JSON.stringify(json)}`);
    }
    for (const { id, status, actual_cost, refunded } of this.#ended) {
      const { json } = await this.#requests.read(`/api/jobs/${id}`);
      const is_same =
        json.status === status && json.actual_cost === actual_cost && json.refunded === refunded;
      expectRule(is_same, `job ${id} is as answered: ${JSON.stringify(json)}, and not ${status}`);
    }
  }

  #forgetOldest(): void {
    if (this.#ended.length <= KEPT) return;
    const id = this.#ended.shift()?.id ?? "";
    this.#book.forgetJob(id);
  }
}
