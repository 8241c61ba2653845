/** Plans, for operators: they save, list and delete them. Accounts have copies, which `plan_list.ts` keeps up to date. */
import { and, asc, eq, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { limitReached } from "../domain/limit_reached.ts";
import { PLANS_MAX, type PlanRule } from "../domain/plans.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { plans } from "./schema.ts";

export type PlanRecord = typeof plans.$inferSelect;

interface PlanSettings {
  readonly name: string;
  readonly recurring: readonly PlanRule[];
}

/** Each method rejects if D1 cannot be reached; the change may have happened or not. `changed` is called after each change. */
export class PlanRecords {
  readonly #changed: () => void;
  readonly #database: DrizzleD1Database;

  constructor(binding: D1Database, changed: () => void) {
    this.#changed = changed;
    this.#database = drizzle(binding);
  }

  /** All plans by id. */
  async list(): Promise<readonly PlanRecord[]> {
    return this.#database.select().from(plans).orderBy(asc(plans.id));
  }

  /** Null: nobody saved this plan. */
  async find(id: string): Promise<PlanRecord | null> {
    const [row] = await this.#database.select().from(plans).where(eq(plans.id, id));
    return row ?? null;
  }

  /** As `OAuthRecords.saveResource`. Refused as `limit_reached`. */
  async save(
    id: string,
    { name, recurring }: PlanSettings,
    { before, audit_id }: { readonly before: PlanRecord | null; readonly audit_id: string },
  ): Promise<Result<{ readonly record: PlanRecord; readonly secret: null } | null, Refusal>> {
    // One query decides, so concurrent requests cannot exceed the limit or overwrite each other.
    const [saved] =
      before === null
        ? await this.#database
            .insert(plans)
            .select(
              sql`
                select ${id}, ${name}, ${JSON.stringify(recurring)}, ${Date.now()}, 1, ${audit_id}
                where (select count(*) from plans) < ${PLANS_MAX}`,
            )
            .onConflictDoNothing()
            .returning()
        : await this.#database
            .update(plans)
            .set({ name, recurring, version: before.version + 1, last_audit_id: audit_id })
            .where(and(eq(plans.id, id), eq(plans.version, before.version)))
            .returning();
    if (saved !== undefined) {
      this.#changed();
      return accepted({ record: saved, secret: null });
    }
    const known = await this.find(id);
    if (known?.version !== before?.version) return accepted(null);
    return refused(limitReached("plans"));
  }

  async remove(id: string): Promise<Result<null, Refusal>> {
    const { meta } = await this.#database.delete(plans).where(eq(plans.id, id));
    this.#changed();
    return meta.changes > 0 ? accepted(null) : refused({ code: "plan_not_found" });
  }
}
