/**
 * The audit log: the operators' actions, with subject, time and reason. Rows are only added, but a person who deletes
 * their account is replaced by a pseudonym, and acts of apps' keys are deleted after 90 days. An action is logged
 * before it is done. If it cannot be logged, it is not done. Its outcome follows as a second row. If that row is
 * missing, the outcome is unknown, and the account or registry shows whether the action happened.
 */
import { and, asc, desc, eq, gt, gte, lt, lte, ne, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { v7 as uuidv7 } from "uuid";
import {
  DELETION_ACT,
  type AuditedAction,
  type AuditEntry,
  type AuditFilter,
  type AuditOutcome,
  type Changes,
} from "../domain/audit.ts";
import { DAY_MS, firstIdOf } from "../domain/calendar.ts";
import { assertInvariant, errorName } from "../domain/result.ts";
import { audit, auditOutcomes, OF_APPS } from "./schema.ts";

/**
 * How long a repeated idempotency key counts as a retry of the same operator action. An hour less than accounts
 * keep their responses, because clocks differ: an extra audit row is better than an action without one.
 */
const AUDIT_KEY_MS = 23 * 60 * 60 * 1000;

/** Operators' acts are kept; those of apps' keys come from programs, so their number has no natural bound. */
const APP_ACTS_KEPT_MS = 90 * DAY_MS;

/** Rows that one query of the schedule deletes, and queries of one run. One app makes at most 600 acts in ten minutes. */
const APP_ACTS_DELETED_AT_ONCE = 1_500;
const APP_ACTS_PORTIONS = 7;

/** Entries that one page of a filtered list, or one portion of a search, looks at. */
const ENTRIES_LOOKED_AT = 4_000;

/** Entries about a person who deletes their account that one query changes. */
const FORGOTTEN_AT_ONCE = 500;

/** `next_id`: the `before_id` of the next page; null: there is none. */
interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly next_id: string | null;
}

/**
 * `new`: logged. `begun`: an earlier try with the same key was logged, and its outcome is unknown. `done`: the
 * key's action was done before. `reused`: the key belongs to another action or another operator.
 */
type AuditBegun =
  | { readonly kind: "new" | "begun" | "done"; readonly id: string }
  | { readonly kind: "reused" };

/** The acts of this isolate. */
let acts = 0;

/** An id of this time, because lists of a time are found by it, after those that this isolate gave before in it. */
function idAt(at_ms: number): string {
  acts += 1;
  return uuidv7({ msecs: at_ms, seq: acts });
}

export class AuditLog {
  readonly #database: DrizzleD1Database;

  constructor(binding: D1Database) {
    this.#database = drizzle(binding);
  }

  /**
   * Logs an action.
   * @throws if that fails; then the action must not be done.
   */
  async begin({ guard, details, ...order }: AuditedAction): Promise<AuditBegun> {
    const at_ms = Date.now();
    const id = idAt(at_ms);
    const { actor, act, subject, reason, request_id } = order;
    if (guard === null) {
      const unguarded = { idempotency_key: null, fingerprint: null };
      await this.#database.insert(audit).values({ id, at_ms, ...order, details, ...unguarded });
      return { kind: "new", id };
    }
    const { key } = guard;
    const fingerprint = fingerprintOf(actor, guard);
    // One query decides, so of two tries with one key only one is logged. After a refusal the key may be used
    // for another action.
    const of_key = ofKey({ act, subject, key }, at_ms);
    const [, [entry]] = await this.#database.batch([
      this.#database.insert(audit).select(sql`
          select ${id}, ${at_ms}, ${actor}, ${act}, ${subject}, ${reason}, ${request_id},
            ${JSON.stringify(details)}, ${key}, ${fingerprint}
          where not exists (select 1 from audit where ${of_key})`),
      this.#database
        .select({
          id: audit.id,
          fingerprint: audit.fingerprint,
          done: sql<number>`${hasOutcome("done")}`,
        })
        .from(audit)
        .where(of_key)
        .orderBy(desc(audit.id))
        .limit(1),
    ]);
    assertInvariant(entry !== undefined, "an action with a key has its entry");
    if (entry.fingerprint !== fingerprint) return { kind: "reused" };
    if (entry.id === id) return { kind: "new", id };
    return { kind: entry.done === 1 ? "done" : "begun", id: entry.id };
  }

  /** Whether the key has a record that still stands for it. False without a key. */
  async has({
    act,
    subject,
    guard,
  }: Pick<AuditedAction, "act" | "subject" | "guard">): Promise<boolean> {
    if (guard === null) return false;
    const of_key = ofKey({ act, subject, key: guard.key }, Date.now());
    const [entry] = await this.#database
      .select({ id: audit.id })
      .from(audit)
      .where(of_key)
      .limit(1);
    return entry !== undefined;
  }

  /** Deletes acts of apps' keys that are older than {@link APP_ACTS_KEPT_MS}, a bounded number in each call. */
  async deleteOldOfApps(now_ms: number): Promise<{ readonly deleted: number }> {
    const old = sql`(select id from audit where ${OF_APPS}
        and id < ${firstIdOf(now_ms - APP_ACTS_KEPT_MS)} order by id limit ${APP_ACTS_DELETED_AT_ONCE})`;
    let deleted = 0;
    for (let portions = 0; portions < APP_ACTS_PORTIONS; portions += 1) {
      const [, { meta }] = await this.#database.batch([
        this.#database.delete(auditOutcomes).where(sql`${auditOutcomes.audit_id} in ${old}`),
        this.#database.delete(audit).where(sql`${audit.id} in ${old}`),
      ]);
      deleted += meta.changes;
      if (meta.changes < APP_ACTS_DELETED_AT_ONCE) break;
    }
    return { deleted };
  }

  /**
   * Whether this operator used the key for another request with a record for each of several subjects (`details.accounts`). A
   * list is looked up across subjects, so this reads the newest records of the last {@link AUDIT_KEY_MS}, at most
   * {@link ENTRIES_LOOKED_AT}.
   */
  async hasOtherList({
    act,
    actor,
    guard,
  }: {
    readonly act: string;
    readonly actor: string;
    readonly guard: NonNullable<AuditedAction["guard"]>;
  }): Promise<boolean> {
    const from_ms = Date.now() - AUDIT_KEY_MS;
    const looked_at = this.#lookedAt({ from_ms, limit: 0 }).limit(ENTRIES_LOOKED_AT).as("audit");
    const [other] = await this.#database
      .select({ id: looked_at.id })
      .from(looked_at)
      .where(
        and(
          eq(looked_at.act, act),
          eq(looked_at.actor, actor),
          eq(looked_at.idempotency_key, guard.key),
          ne(looked_at.fingerprint, fingerprintOf(actor, guard)),
          sql`${looked_at.details} ->> '$.accounts' is not null`,
          COUNTS,
        ),
      )
      .limit(1);
    return other !== undefined;
  }

  /** Logs the outcome of an action. A failure of this is only reported to the operator's log. */
  async conclude(
    audit_id: string,
    outcome: AuditOutcome,
    changed: Changes | null = null,
  ): Promise<void> {
    try {
      const row = { audit_id, outcome, at_ms: Date.now(), changed };
      await this.#database.insert(auditOutcomes).values(row).onConflictDoNothing();
    } catch (error) {
      const name = errorName(error);
      console.error({ event: "audit_outcome_write_failed", audit_id, outcome, name });
    }
  }

  /**
   * Replaces a person by a pseudonym, as actor and as subject, and deletes free text about or to them; may be
   * repeated.
   */
  async forgetPerson(identity_id: string, pseudonym: string): Promise<void> {
    // The reason of the deletion itself is kept: it proves that somebody asked for it.
    const reason = sql`case when ${audit.act} = ${DELETION_ACT} then ${audit.reason} end`;
    const details = sql`json_remove(${audit.details}, '$.public_reason')`;
    const without_text = { reason, details, idempotency_key: null, fingerprint: null };
    // The fingerprint starts with the actor.
    const fingerprint = sql`replace(${audit.fingerprint}, ${identity_id}, ${pseudonym})`;
    const of_subject = sql`(select id from audit where subject = ${identity_id} limit ${FORGOTTEN_AT_ONCE})`;
    for (let changes = FORGOTTEN_AT_ONCE; changes === FORGOTTEN_AT_ONCE;) {
      const { meta } = await this.#database
        .update(audit)
        .set({ subject: pseudonym, ...without_text })
        .where(sql`${audit.id} in ${of_subject}`);
      changes = meta.changes;
    }
    for (let after_id: string | null = ""; after_id !== null;) {
      const end: string | null = await this.#endOfPortion(after_id);
      await this.#database
        .update(audit)
        .set({ actor: pseudonym, fingerprint })
        .where(
          and(
            gt(audit.id, after_id),
            end === null ? undefined : lte(audit.id, end),
            eq(audit.actor, identity_id),
          ),
        );
      after_id = end;
    }
  }

  /** The last entry of a portion of all; null: the portion is the last one. */
  async #endOfPortion(after_id: string): Promise<string | null> {
    const [end] = await this.#database
      .select({ id: audit.id })
      .from(audit)
      .where(gt(audit.id, after_id))
      .orderBy(asc(audit.id))
      .limit(1)
      .offset(ENTRIES_LOOKED_AT - 1);
    return end?.id ?? null;
  }

  /**
   * A page of entries, newest first. It looks at a bounded number of them, so it may be short, and still have a next one.
   */
  async list(filter: AuditFilter): Promise<AuditPage> {
    const { actor, act, limit } = filter;
    const is_filtered = [actor, act].some((value) => value !== undefined);
    const count = is_filtered ? ENTRIES_LOOKED_AT : limit + 1;
    const looked_at = this.#lookedAt(filter).limit(count).as("audit");
    const matching = await this.#database
      .select()
      .from(looked_at)
      .where(
        and(
          actor === undefined ? undefined : eq(looked_at.actor, actor),
          act === undefined ? undefined : eq(looked_at.act, act),
        ),
      )
      .orderBy(desc(looked_at.id))
      .limit(limit + 1);
    const rows = matching.slice(0, limit);
    const last = matching.length > limit ? rows.at(-1) : undefined;
    const next_id = last?.id ?? (is_filtered ? await this.#lastLookedAt(filter) : null);
    const ids = JSON.stringify(rows.map(({ id }) => id));
    const outcomes = await this.#database
      .select()
      .from(auditOutcomes)
      .where(sql`${auditOutcomes.audit_id} in (select value from json_each(${ids}))`);
    const entries = rows.map((row) => {
      const { idempotency_key: _, fingerprint: __, ...entry } = row;
      return { ...entry, ...endOf(outcomes.filter(({ audit_id }) => audit_id === row.id)) };
    });
    return { entries, next_id };
  }

  /** The entries of a subject, of a request, or all, newest first. */
  #lookedAt({ subject, request_id, from_ms, to_ms, before_id }: AuditFilter) {
    return this.#database
      .select()
      .from(audit)
      .where(
        and(
          subject === undefined ? undefined : eq(audit.subject, subject),
          request_id === undefined ? undefined : eq(audit.request_id, request_id),
          // Ids begin with their time.
          from_ms === undefined ? undefined : gte(audit.id, firstIdOf(from_ms)),
          to_ms === undefined ? undefined : lt(audit.id, firstIdOf(to_ms)),
          before_id === undefined ? undefined : lt(audit.id, before_id),
        ),
      )
      .orderBy(desc(audit.id));
  }

  /** The last entry of a page of filtered ones that it looked at; null: there are no more. */
  async #lastLookedAt(filter: AuditFilter): Promise<string | null> {
    const [last] = await this.#lookedAt(filter)
      .limit(1)
      .offset(ENTRIES_LOOKED_AT - 1);
    return last?.id ?? null;
  }
}

const hasOutcome = (outcome: AuditOutcome) =>
  sql`exists (select 1 from audit_outcomes where audit_id = ${audit.id} and outcome = ${outcome})`;

/** SQL: whether a record's key still stands for it. After a refusal the key may be used for another action. */
const COUNTS = sql`(not ${hasOutcome("refused")} or ${hasOutcome("done")})`;

/** SQL: the records that a key stands for. */
const ofKey = (
  { act, subject, key }: { readonly act: string; readonly subject: string; readonly key: string },
  now_ms: number,
) => sql`${audit.subject} = ${subject} and ${audit.act} = ${act}
  and ${audit.idempotency_key} = ${key} and ${audit.at_ms} > ${now_ms - AUDIT_KEY_MS}
  and ${COUNTS}`;

const fingerprintOf = (actor: string, guard: NonNullable<AuditedAction["guard"]>): string =>
  `${actor} ${guard.fingerprint}`;

/** If one try was done, the action was done, even if other tries were refused. */
function endOf(
  rows: readonly (typeof auditOutcomes.$inferSelect)[],
): Pick<AuditEntry, "outcome" | "changed"> {
  const { outcome = "unknown", changed = null } =
    rows.find((row) => row.outcome === "done") ?? rows[0] ?? {};
  return { outcome, changed };
}
