/**
 * A second bookkeeping of one account, from its entries and from what its callers were told. It knows nothing of how the
 * account works, and is compared with it after each turn.
 */
import type { EntryRow, JobRow } from "../../src/account/sql/schema.ts";
import { CAP_CLAIM_MS } from "../../src/domain/limits.ts";
import type { Stored } from "./platform/storage.ts";
import { CreditBook } from "./credit_book.ts";
import { must } from "./violation.ts";

/** Machines' clocks differ, so nothing is expected so near to a limit. */
export const MARGIN_MS = 5 * 60_000;

export interface JobBook {
  readonly id: string;
  row: JobRow;
  /** What its entries took from the balance. */
  taken: number;
  held: number;
  ends: number;
  line: number;
  readonly first_line: number;
}

/** An allowance, as its holder approved it and as its client exchanged it. */
export interface TokenBook {
  readonly id: string;
  /** Its own id, then its ancestors'. */
  readonly path: readonly string[];
  readonly expires_at_ms: number;
  readonly session_id: string;
  readonly ends_with_session: boolean;
  readonly writes: boolean;
  readonly app_slugs: readonly string[] | null;
  /** Its own cap for its whole life; null: none. */
  total_cap: number | null;
  readonly has_caps: boolean;
  is_revoked: boolean;
}

export class Books {
  readonly identity_id: string;
  line = 0;
  balance = 0;
  held = 0;
  newest_at_ms = 0;
  readonly entries: EntryRow[] = [];
  readonly credits = new CreditBook();
  readonly jobs = new Map<string, JobBook>();
  readonly started = new Map<string, JobBook>();
  readonly tokens = new Map<string, TokenBook>();
  readonly #jobs_of_token = new Map<string, Set<JobBook>>();
  readonly granted = new Map<string, number>();
  readonly purchases = new Map<string, number>();
  readonly stopped = new Set<string>();
  is_suspended = false;

  constructor(identity_id: string) {
    this.identity_id = identity_id;
  }

  /** Takes over the entries that a turn added. @returns the jobs that it started. */
  absorb({ sqlite }: Stored): readonly JobBook[] {
    // A blank object has no tables.
    if (this.line === 0 && sqlite.all("select 1 from sqlite_master limit 1").length === 0)
      return [];
    const news = sqlite.all<EntryRow>(
      "select * from entries where line > ? order by line",
      this.line,
    );
    const begun: JobBook[] = [];
    this.credits.begin(sqlite, news);
    for (const entry of news) {
      const held_before = this.held;
      const { line, amount, balance_after, reserved_after, at_ms, job_id } = entry;
      must(line === this.line + 1, "entries are numbered without gaps", {
        entry,
        after: this.line,
      });
      must(at_ms >= this.newest_at_ms, "the time of entries never goes back", entry);
      this.balance += amount;
      must(balance_after === this.balance, "the balance is the sum of the entries", entry);
      if (job_id !== null) begun.push(...this.#post(entry, job_id));
      else must(reserved_after === this.held, "only jobs hold credits", entry);
      must(reserved_after === this.held, "what is held is the sum over started jobs", {
        entry,
        held: this.held,
      });
      const job = job_id === null ? undefined : this.jobs.get(job_id);
      const held = this.held - held_before;
      const change =
        job === undefined ? null : { held, taken: job.taken, is_held_after: job.held > 0 };
      this.credits.apply(sqlite, entry, change);
      this.#count(entry);
      this.line = line;
      this.newest_at_ms = at_ms;
      this.entries.push(entry);
    }
    const changed = new Set(news.flatMap(({ job_id }) => job_id ?? []));
    for (const id of changed)
      this.#compare(sqlite.all<JobRow>("select * from jobs where id = ?", id)[0], id);
    this.credits.end(sqlite, news);
    const newest = news.at(-1);
    if (newest !== undefined) {
      must(newest.open_jobs === this.started.size, "the newest entry counts the started jobs", {
        open_jobs: newest.open_jobs,
        started: this.started.size,
      });
    }
    return begun;
  }

  #post(entry: EntryRow, job_id: string): JobBook[] {
    const { kind, amount, line, reserved_after, previous_line } = entry;
    const known = this.jobs.get(job_id);
    const is_covered = kind !== "reserve" || (known !== undefined && amount === 0);
    must(is_covered || entry.balance_after >= 0, "the balance covers what a job reserves", entry);
    const change = reserved_after - this.held;
    this.held += change;
    if (known === undefined) {
      must(kind === "reserve" && previous_line === null, "a job begins with its reserve", entry);
      must(change === 0 - amount, "a job holds what it takes from the balance", entry);
      const row = { id: job_id, status: "started" } as JobRow;
      const book = {
        id: job_id,
        row,
        taken: 0 - amount,
        held: change,
        ends: 0,
        line,
        first_line: line,
      };
      this.jobs.set(job_id, book);
      this.started.set(job_id, book);
      return [book];
    }
    must(previous_line === known.line, "an entry names the one before it of its job", entry);
    known.line = line;
    known.taken -= amount;
    known.held += change;
    must(known.held >= 0, "a job gives back no more than it holds", entry);
    return [];
  }

  #count({ kind, app_slug, amount }: EntryRow): void {
    if (kind !== "grant" || app_slug === null) return;
    must(!this.granted.has(app_slug), "an app grants its starter credits once", { app_slug });
    must(amount > 0, "a grant is worth something", { app_slug, amount });
    this.granted.set(app_slug, amount);
  }

  /** Compares a job's row with its entries. */
  #compare(row: JobRow | undefined, id: string): void {
    const book = this.jobs.get(id);
    must(row !== undefined && book !== undefined, "an entry's job has its row", { id });
    const before = book.row;
    book.row = row;
    this.credits.compareJob(row);
    must(row.line === book.line, "a job names its newest entry", { row, line: book.line });
    const is_started = row.status === "started";
    must(book.held === (is_started ? row.reserved : 0), "a job holds its reserve until its end", {
      held: book.held,
      row,
    });
    const cost = is_started ? row.reserved : row.actual_cost - row.refunded;
    must(book.taken === cost, "the entries of a job add up to what it costs", {
      taken: book.taken,
      cost,
      row,
    });
    must(
      row.refunded >= 0 && row.refunded <= row.actual_cost,
      "a refund never exceeds the cost",
      row,
    );
    if (before.status === "started") {
      if (!is_started) this.#end(book);
      if (row.failure === "expired" || row.failure === "cancelled") {
        const kept = row.on_expiry === "charge" ? row.reserved : 0;
        must(
          row.actual_cost === (row.spent ?? kept),
          "a job that ends early costs what it spent",
          row,
        );
      }
      this.#keepsRoom(row);
      this.#index(book);
      return;
    }
    must(!is_started, "a job that ended does not start again", row);
    if (before.status === row.status && before.actual_cost === row.actual_cost) return;
    // Only one that ended early may be completed late.
    must(before.failure === "expired" || before.failure === "cancelled", "a job ends once", {
      before,
      row,
    });
    this.#end(book);
    must(book.ends <= 2, "a job is completed late at most once", row);
  }

  /** Its app may still complete a job that ended early, so the job's room in the caps stays for some days. */
  #keepsRoom(row: JobRow): void {
    const ended_early = row.failure === "expired" || row.failure === "cancelled";
    if (!ended_early || row.settle !== "app" || row.reserved === row.actual_cost) return;
    // One that ends only when its claim would be over has none.
    if (row.updated_at_ms > row.expires_at_ms + CAP_CLAIM_MS - MARGIN_MS) return;
    const is_capped = idsOf(row.allowance_path).some((id) => this.tokens.get(id)?.has_caps);
    must(
      !is_capped || row.claimed_until_ms !== null,
      "a job that its app may complete late keeps its room in the caps",
      row,
    );
  }

  #end(book: JobBook): void {
    book.ends += 1;
    this.started.delete(book.id);
  }

  #index(book: JobBook): void {
    for (const id of idsOf(book.row.allowance_path)) {
      const jobs = this.#jobs_of_token.get(id) ?? new Set();
      this.#jobs_of_token.set(id, jobs.add(book));
    }
  }

  /** What the jobs of a token and of those exchanged from it have taken at least, in its whole life. */
  usageOf(token_id: string, now_ms: number): number {
    let sum = 0;
    for (const { row } of this.#jobs_of_token.get(token_id) ?? []) {
      const { status, reserved, actual_cost, refunded, claimed_until_ms } = row;
      const claims = claimed_until_ms !== null && claimed_until_ms > now_ms + 120_000;
      sum += status === "started" || claims ? reserved : actual_cost - refunded;
    }
    return sum;
  }

  /** Why a token is not accepted at a time; null: it may be. */
  whyEnded(token_id: string, now_ms: number): string | null {
    const token = this.tokens.get(token_id);
    if (token === undefined) return "it was never issued";
    for (const id of token.path) {
      const one = this.tokens.get(id);
      if (one === undefined || one.is_revoked) return `${id} was revoked`;
      if (one.expires_at_ms <= now_ms) return `${id} has expired`;
    }
    return null;
  }
}

export function idsOf(path: string | null): readonly string[] {
  return path === null ? [] : path.split(" ");
}
