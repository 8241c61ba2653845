/**
 * The credits that operators with the role support changed, for their daily limit. An attempt reserves its credits before
 * it changes an account, and releases them only if it changed nothing. An attempt whose end nobody saw keeps them.
 */
import { and, eq, lt, ne, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { v7 as uuidv7 } from "uuid";
import { utcDayOf } from "../domain/calendar.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { supportCredits } from "./schema.ts";

interface CreditsOrder {
  /** The operator's entry in `OPERATORS`. */
  readonly operator: string;
  /** The audit record of the action. Attempts with the same record count once. */
  readonly audit_id: string;
  /** The credits that the action gives or takes; not negative. */
  readonly credits: number;
  /** The operator's limit for a UTC day. */
  readonly max: number;
}

/** Names one attempt. */
interface ReservedCredits {
  readonly operator: string;
  readonly day: number;
  readonly id: string;
}

export function createSupportCredits(binding: D1Database) {
  const database = drizzle(binding);
  return {
    /** Reserves credits of today. Refused with the credits that are left, if they are too few. */
    async reserve({
      operator,
      audit_id,
      credits,
      max,
    }: CreditsOrder): Promise<Result<ReservedCredits, number>> {
      const day = utcDayOf(Date.now());
      const id = uuidv7();
      const by_action = database
        .select({ credits: sql<number>`max(${supportCredits.credits})`.as("credits") })
        .from(supportCredits)
        .where(
          and(
            eq(supportCredits.operator, operator),
            eq(supportCredits.day, day),
            ne(supportCredits.audit_id, audit_id),
          ),
        )
        .groupBy(supportCredits.audit_id);
      const used = sql<number>`(select coalesce(sum(credits), 0) from ${by_action})`;
      // One query decides, so concurrent attempts cannot exceed the limit together.
      const [{ meta }, [row]] = await database.batch([
        database.insert(supportCredits).select(sql`
          select ${operator}, ${day}, ${id}, ${audit_id}, ${credits} where ${used} + ${credits} <= ${max}`),
        database.select({ used }).from(sql`(select 1)`),
        database.delete(supportCredits).where(lt(supportCredits.day, day - 1)),
      ]);
      return meta.changes > 0
        ? accepted({ operator, day, id })
        : refused(Math.max(0, max - (row?.used ?? 0)));
    },
    async release({ operator, day, id }: ReservedCredits): Promise<void> {
      await database
        .delete(supportCredits)
        .where(
          and(
            eq(supportCredits.operator, operator),
            eq(supportCredits.day, day),
            eq(supportCredits.id, id),
          ),
        );
    },
  };
}

export type SupportCredits = ReturnType<typeof createSupportCredits>;
