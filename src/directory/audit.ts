/**
 * The audit log: the operators' actions, with subject, time and reason. Rows are only added, but a person who
 * deletes their account is replaced by a pseudonym, and acts of apps' keys are deleted after 90 days. An action is logged before it is done. If it cannot be
 * logged, it is not done. Its outcome follows as a second row. If that row is missing, the outcome is unknown,
 * and the account or registry shows whether the action happened.
 */
import { and, desc, eq, gte, lt, ne, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
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
export const APP_ACTS_KEPT_MS = 90 * DAY_MS;

/** Rows that one run of the schedule deletes. One app makes at most 600 in ten minutes. */
const APP_ACTS_DELETED_MAX = 10_000;

/**
 * `new`: logged. `begun`: an earlier try with the same key was logged, and its outcome is unknown. `done`: the
 * key's action was done before. `reused`: the key belongs to another action or another operator.
 */
export type AuditBegun =
  | { readonly kind: "new" | "begun" | "done"; readonly id: string }
  | { readonly kind: "reused" };

export interface AuditLog {
  /**
   * Logs an action.
   * @throws if that fails; then the action must not be done.
   */
  begin(order: AuditedAction): Promise<AuditBegun>;
  /** Whether the key has a record that still stands for it. False without a key. */
  has(action: Pick<AuditedAction, "act" | "subject" | "guard">): Promise<boolean>;
  /**
   * Whether this operator used the key for another request with a record for each of several subjects (`details.accounts`). A
   * list is looked up across subjects, so this reads all records of the last {@link AUDIT_KEY_MS}.
   */
  hasOtherList(list: {
    readonly act: string;
    readonly actor: string;
    readonly guard: NonNullable<AuditedAction["guard"]>;
  }): Promise<boolean>;
  /** Logs the outcome of an action. A failure of this is only reported to the operator's log. */
  conclude(id: string, outcome: AuditOutcome, changed?: Changes | null): Promise<void>;
  /**
   * Replaces a person by a pseudonym, as actor and as subject, and deletes free text about them; may be
   * repeated.
   */
  forgetPerson(identity_id: string, pseudonym: string): Promise<void>;
  /** Deletes acts of apps' keys that are older than {@link APP_ACTS_KEPT_MS}, a bounded number in each call. */
  deleteOldOfApps(now_ms: number): Promise<{ readonly deleted: number }>;
  /** Entries, newest first. */
  list(filter: AuditFilter): Promise<readonly AuditEntry[]>;
}

export function createAuditLog(binding: D1Database): AuditLog {
  const database = drizzle(binding);
  return {
    async begin({ guard, details, ...order }) {
      const id = uuidv7();
      const at_ms = Date.now();
      const { actor, act, subject, reason, request_id } = order;
      const details_json = JSON.stringify(details);
      if (guard === null) {
        const unguarded = { idempotency_key: null, fingerprint: null };
        await database.insert(audit).values({ id, at_ms, ...order, details_json, ...unguarded });
        return { kind: "new", id };
      }
      const { key } = guard;
      const fingerprint = fingerprintOf(actor, guard);
      // One query decides, so of two tries with one key only one is logged. After a refusal the key may be used
      // for another action.
      const of_key = ofKey({ act, subject, key }, at_ms);
      const [, [entry]] = await database.batch([
        database.insert(audit).select(sql`
          select ${id}, ${at_ms}, ${actor}, ${act}, ${subject}, ${reason}, ${request_id},
            ${details_json}, ${key}, ${fingerprint}
          where not exists (select 1 from audit where ${of_key})`),
        database
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
    },
    async has({ act, subject, guard }) {
      if (guard === null) return false;
      const of_key = ofKey({ act, subject, key: guard.key }, Date.now());
      const [entry] = await database.select({ id: audit.id }).from(audit).where(of_key).limit(1);
      return entry !== undefined;
    },
    async deleteOldOfApps(now_ms) {
      const old = sql`(select id from audit where ${OF_APPS}
        and id < ${firstIdOf(now_ms - APP_ACTS_KEPT_MS)} order by id limit ${APP_ACTS_DELETED_MAX})`;
      const [, { meta }] = await database.batch([
        database.delete(auditOutcomes).where(sql`${auditOutcomes.audit_id} in ${old}`),
        database.delete(audit).where(sql`${audit.id} in ${old}`),
      ]);
      return { deleted: meta.changes };
    },
    async hasOtherList({ act, actor, guard }) {
      const [other] = await database
        .select({ id: audit.id })
        .from(audit)
        .where(
          and(
            gte(audit.id, firstIdOf(Date.now() - AUDIT_KEY_MS)),
            eq(audit.act, act),
            eq(audit.actor, actor),
            eq(audit.idempotency_key, guard.key),
            ne(audit.fingerprint, fingerprintOf(actor, guard)),
            sql`${audit.details_json} ->> '$.accounts' is not null`,
            COUNTS,
          ),
        )
        .limit(1);
      return other !== undefined;
    },
    async conclude(audit_id, outcome, changed = null) {
      try {
        const changed_json = changed === null ? null : JSON.stringify(changed);
        const row = { audit_id, outcome, at_ms: Date.now(), changed_json };
        await database.insert(auditOutcomes).values(row).onConflictDoNothing();
      } catch (error) {
        const name = errorName(error);
        console.error({ event: "audit_outcome_write_failed", audit_id, outcome, name });
      }
    },
    async forgetPerson(identity_id, pseudonym) {
      // The reason of the deletion itself is kept: it proves that somebody asked for it.
      const reason = sql`case when ${audit.act} = ${DELETION_ACT} then ${audit.reason} end`;
      const without_text = { reason, idempotency_key: null, fingerprint: null };
      // The fingerprint starts with the actor.
      const fingerprint = sql`replace(${audit.fingerprint}, ${identity_id}, ${pseudonym})`;
      await database.batch([
        database
          .update(audit)
          .set({ subject: pseudonym, ...without_text })
          .where(eq(audit.subject, identity_id)),
        database
          .update(audit)
          .set({ actor: pseudonym, fingerprint })
          .where(eq(audit.actor, identity_id)),
      ]);
    },
    async list({ actor, act, subject, from_ms, to_ms, before_id, limit }) {
      const rows = await database
        .select()
        .from(audit)
        .where(
          and(
            actor === undefined ? undefined : eq(audit.actor, actor),
            act === undefined ? undefined : eq(audit.act, act),
            subject === undefined ? undefined : eq(audit.subject, subject),
            from_ms === undefined ? undefined : gte(audit.at_ms, from_ms),
            to_ms === undefined ? undefined : lt(audit.at_ms, to_ms),
            before_id === undefined ? undefined : lt(audit.id, before_id),
          ),
        )
        .orderBy(desc(audit.id))
        .limit(limit);
      const ids = JSON.stringify(rows.map(({ id }) => id));
      const outcomes = await database
        .select()
        .from(auditOutcomes)
        .where(sql`${auditOutcomes.audit_id} in (select value from json_each(${ids}))`);
      return rows.map(({ id, at_ms, details_json, ...row }) => ({
        id,
        at_ms,
        actor: row.actor,
        act: row.act,
        subject: row.subject,
        reason: row.reason,
        request_id: row.request_id,
        details: JSON.parse(details_json) as Record<string, unknown>,
        ...endOf(outcomes.filter(({ audit_id }) => audit_id === id)),
      }));
    },
  };
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
  rows: readonly { readonly outcome: AuditOutcome; readonly changed_json: string | null }[],
): Pick<AuditEntry, "outcome" | "changed"> {
  const { outcome = "unknown", changed_json = null } =
    rows.find((row) => row.outcome === "done") ?? rows[0] ?? {};
  return { outcome, changed: changed_json === null ? null : (JSON.parse(changed_json) as Changes) };
}
