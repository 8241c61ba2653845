/**
 * What the object owes the read model, and its delivery.
 *
 * A marker "projected up to line N" must survive eviction, but a row for it would be written with
 * every flush. Instead each ledger line carries the marker that was known when it was written, and
 * the alarm tells the rest: a flush is due at most {@link PROJECTION_DELAY_MS} after the newest line,
 * so an alarm later than that (or none) means that the flush has been done. Only while D1 cannot be
 * reached is the marker a row of its own, `projection_debt`. Sending a line twice changes nothing.
 */
import {
  PROJECTION_BATCH_LINES,
  PROJECTION_DELAY_MS,
  PROJECTION_RETRY_MAX_MS,
  PROJECTION_RETRY_MIN_MS,
} from "../domain/limits.ts";
import { assertInvariant } from "../domain/result.ts";
import type { ProjectedRows, Projector } from "../readmodel/projector.ts";
import { projectionDebt } from "./schema.ts";
import type { AccountDatabase, AppRow, EntryRow, JobRow, Store } from "./store.ts";

export class Outbox {
  readonly #database: AccountDatabase;
  readonly #store: Store;
  readonly #projector: Projector;
  /** Lines up to this one are in the read model. */
  #projected_line: number;
  /** Where the next flush starts; behind the marker where this instance has not flushed yet. */
  #resend_after_line: number;
  #failures = 0;

  /** `alarm_at_ms`: the alarm as the object found it when it woke. */
  constructor(
    database: AccountDatabase,
    store: Store,
    projector: Projector,
    alarm_at_ms: number | null,
  ) {
    this.#database = database;
    this.#store = store;
    this.#projector = projector;
    const newest = store.readNewestEntry();
    const debt = database.select().from(projectionDebt).get();
    this.#resend_after_line = debt?.projected_line ?? newest?.projected_line ?? 0;
    const flush_due = newest !== null && isFlushDue(newest, alarm_at_ms);
    this.#projected_line =
      debt !== undefined || flush_due ? this.#resend_after_line : (newest?.line ?? 0);
  }

  /** What a new ledger line records; see `schema.entries`. */
  get projected_line(): number {
    return this.#projected_line;
  }

  /**
   * Says that the alarm is running. Storage shows no alarm meanwhile, so an instance that woke for it
   * took its flush for done.
   */
  expectFlush(): void {
    this.#projected_line = Math.min(this.#projected_line, this.#resend_after_line);
  }

  /**
   * Sends everything owed.
   * @returns when to try again, in milliseconds since the epoch, where the read model cannot be
   * reached; null where all is delivered.
   */
  async flush(): Promise<number | null> {
    try {
      for (;;) {
        const lines = this.#store.readEntriesFrom(
          this.#resend_after_line + 1,
          PROJECTION_BATCH_LINES,
        );
        const last = lines.at(-1);
        if (last === undefined) break;
        await this.#projector.apply(collectRows(this.#store, lines));
        this.#resend_after_line = last.line;
        this.#projected_line = last.line;
      }
      if (this.#hasDebt()) this.#database.delete(projectionDebt).run();
      this.#failures = 0;
      return null;
    } catch (error) {
      return this.#postpone(error);
    }
  }

  /** Sends the whole account anew, whatever the read model holds of it. */
  async rebuild(): Promise<void> {
    const account = this.#store.readAccount();
    if (account === null) return;
    await this.#projector.forget(account.id);
    const grants = this.#store.listApps().flatMap((app) => grantRow(account.id, app));
    await this.#projector.apply({ account: accountRow(account), grants, jobs: [] });
    let after_id = "";
    for (;;) {
      const jobs = this.#store.readJobsAfter(after_id, PROJECTION_BATCH_LINES);
      const last = jobs.at(-1);
      if (last === undefined) return;
      await this.#projector.apply({
        account: null,
        grants: [],
        jobs: jobs.map((job) => jobRow(account.id, job)),
      });
      after_id = last.id;
    }
  }

  #hasDebt(): boolean {
    return this.#database.select().from(projectionDebt).get() !== undefined;
  }

  #postpone(error: unknown): number {
    this.#failures += 1;
    // What failed, never what was being written: rows hold people's metadata.
    const reason = error instanceof Error ? error.name : typeof error;
    console.warn({ event: "projection_failed", failures: this.#failures, reason });
    this.expectFlush();
    this.#database
      .insert(projectionDebt)
      .values({ singleton: 1, projected_line: this.#projected_line })
      .onConflictDoNothing()
      .run();
    const delay_ms = PROJECTION_RETRY_MIN_MS * 2 ** Math.min(this.#failures - 1, 10);
    return Date.now() + Math.min(delay_ms, PROJECTION_RETRY_MAX_MS);
  }
}

/** Whether the alarm found at waking still has the newest line to deliver. */
function isFlushDue(newest: EntryRow, alarm_at_ms: number | null): boolean {
  return alarm_at_ms !== null && alarm_at_ms <= newest.at_ms + PROJECTION_DELAY_MS;
}

/** The rows that some ledger lines changed, as they are now. */
function collectRows(store: Store, lines: readonly EntryRow[]): ProjectedRows {
  const account = store.readAccount();
  assertInvariant(account !== null, "an account with lines has its row");
  const job_ids = new Set(lines.flatMap((line) => line.job_id ?? []));
  const granted = lines.flatMap((line) =>
    line.kind === "grant" && line.app_slug !== null ? (store.readApp(line.app_slug) ?? []) : [],
  );
  return {
    account: lines.some((line) => line.kind === "open") ? accountRow(account) : null,
    grants: granted.flatMap((app) => grantRow(account.id, app)),
    jobs: [...job_ids].flatMap((id) => {
      const job = store.readJob(id);
      return job === null ? [] : [jobRow(account.id, job)];
    }),
  };
}

function accountRow(account: {
  id: string;
  identity_id: string;
  plan: string;
  created_at_ms: number;
}): NonNullable<ProjectedRows["account"]> {
  const { id, identity_id, plan, created_at_ms } = account;
  return { id, identity_id, plan, created_at_ms, version: 1 };
}

function grantRow(account_id: string, app: AppRow): ProjectedRows["grants"] {
  const { slug: app_slug, starter_credits: amount, granted_at_ms } = app;
  return granted_at_ms === null ? [] : [{ account_id, app_slug, amount, granted_at_ms }];
}

function jobRow(account_id: string, row: JobRow): ProjectedRows["jobs"][number] {
  const { line, token_id: _, ...job } = row;
  return { account_id, ...job, version: line };
}
