/**
 * The audit log: who did what to whom, when and why. It is only ever added to; but whoever deletes their
 * account goes out of it by name.
 *
 * An act is written down before it is done, so that nothing is ever done that the log does not know: where
 * the line cannot be written, the act does not happen. What became of it follows as a row of its own; a
 * line without one is an act whose end nobody saw, and its subject's own books say whether it happened.
 */
import { and, desc, eq, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { v7 as uuidv7 } from "uuid";
import { errorName } from "../domain/result.ts";
import { assertInvariant } from "../domain/result.ts";
import { audit, auditOutcomes } from "./schema.ts";

/**
 * How long a repeated idempotency key counts as a retry of the same operator action. An hour less than accounts
 * keep their responses, because clocks differ: an extra audit row is better than an action without one.
 */
const AUDIT_KEY_MS = 23 * 60 * 60 * 1000;

/** An act about to be done. */
export interface AuditOrder {
  /** The operator's identity. */
  readonly actor: string;
  /** A stable word, such as `account.credits`. */
  readonly act: string;
  /** What it is done to: an identity, an app's slug. */
  readonly subject: string;
  readonly reason: string | null;
  readonly request_id: string;
  /** What else belongs to it. Never a secret: the log is read by every operator. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The operator's `Idempotency-Key` and a digest of the body; null: sent without one. */
  readonly guard: { readonly key: string; readonly fingerprint: string } | null;
}

/** `replayed`: a key's first answer was given again, and nothing happened. */
export type AuditOutcome = "done" | "refused" | "replayed";

/**
 * `new`: written down. `begun`: an earlier try under the same key was, whose end nobody saw. `done`: the
 * key's act was done before. `reused`: the key stands for another act, or another operator's.
 */
export type AuditBegun =
  | { readonly kind: "new" | "begun" | "done"; readonly id: string }
  | { readonly kind: "reused" };

/** A line of the log. `outcome`: `unknown` where nobody saw the act end. */
export interface AuditLine extends Omit<AuditOrder, "guard"> {
  readonly id: string;
  readonly at_ms: number;
  readonly outcome: AuditOutcome | "unknown";
}

export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly act?: string | undefined;
  readonly subject?: string | undefined;
  readonly before_id?: string | undefined;
  readonly limit: number;
}

export interface AuditLog {
  /** Writes an act down. @throws where that fails; then it must not be done. */
  begin(order: AuditOrder): Promise<AuditBegun>;
  /** Notes what became of an act. What fails here is logged: the line stands. */
  conclude(id: string, outcome: AuditOutcome): Promise<void>;
  /**
   * Puts a pseudonym in a person's place, whether they acted or were acted on, and empties what was
   * written of them in free text. May be done again.
   */
  forgetPerson(identity_id: string, pseudonym: string): Promise<void>;
  /** Lines, newest first. */
  list(filter: AuditFilter): Promise<readonly AuditLine[]>;
}

/** The log over the directory's database. */
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
      const fingerprint = `${actor} ${guard.fingerprint}`;
      // One statement decides: of two tries under one key, one writes the line. What was refused is
      // not the key's: it may stand for something else now.
      const of_key = sql`${audit.subject} = ${subject} and ${audit.act} = ${act}
        and ${audit.idempotency_key} = ${key} and ${audit.at_ms} > ${at_ms - AUDIT_KEY_MS}
        and (not ${hasOutcome("refused")} or ${hasOutcome("done")})`;
      const [, [line]] = await database.batch([
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
      assertInvariant(line !== undefined, "a key's act has its line");
      if (line.fingerprint !== fingerprint) return { kind: "reused" };
      if (line.id === id) return { kind: "new", id };
      return { kind: line.done === 1 ? "done" : "begun", id: line.id };
    },
    async conclude(audit_id, outcome) {
      try {
        const row = { audit_id, outcome, at_ms: Date.now() };
        await database.insert(auditOutcomes).values(row).onConflictDoNothing();
      } catch (error) {
        const name = errorName(error);
        console.error({ event: "audit_outcome_write_failed", audit_id, outcome, name });
      }
    },
    async forgetPerson(identity_id, pseudonym) {
      const unsaid = { reason: null, idempotency_key: null, fingerprint: null };
      // The digest of who asked for what begins with who asked.
      const fingerprint = sql`replace(${audit.fingerprint}, ${identity_id}, ${pseudonym})`;
      await database.batch([
        database
          .update(audit)
          .set({ subject: pseudonym, ...unsaid })
          .where(eq(audit.subject, identity_id)),
        database
          .update(audit)
          .set({ actor: pseudonym, fingerprint })
          .where(eq(audit.actor, identity_id)),
      ]);
    },
    async list({ actor, act, subject, before_id, limit }) {
      const rows = await database
        .select()
        .from(audit)
        .where(
          and(
            actor === undefined ? undefined : eq(audit.actor, actor),
            act === undefined ? undefined : eq(audit.act, act),
            subject === undefined ? undefined : eq(audit.subject, subject),
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
        outcome: outcomeOf(outcomes.filter(({ audit_id }) => audit_id === id)),
      }));
    },
  };
}

const hasOutcome = (outcome: AuditOutcome) =>
  sql`exists (select 1 from audit_outcomes where audit_id = ${audit.id} and outcome = ${outcome})`;

/** What was done was done, whatever was answered to other tries. */
function outcomeOf(rows: readonly { readonly outcome: AuditOutcome }[]): AuditLine["outcome"] {
  const outcomes = rows.map(({ outcome }) => outcome);
  return outcomes.includes("done") ? "done" : (outcomes[0] ?? "unknown");
}
