/** The rows of an account's tables, as types. */
import type * as schema from "./schema.ts";

export type AccountRow = typeof schema.account.$inferSelect;
export type EntryRow = typeof schema.entries.$inferSelect;
export type AppRow = typeof schema.apps.$inferSelect;
export type JobRow = typeof schema.jobs.$inferSelect;

/** What a started job counts for: the personal token and the app that it was created with. */
export type JobCreator = Pick<JobRow, "personal_token_id" | "app_slug">;
