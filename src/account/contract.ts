/**
 * All types that cross the RPC border between the Worker and the object. They are plain values only. The types are in
 * `contract/`, by subject; import them from here. `operations.ts` has the operations.
 */
export * from "./contract/call.ts";
export type * from "./contract/history.ts";
export type * from "./contract/jobs.ts";
export type * from "./contract/operators.ts";
export type * from "./contract/recovery.ts";
export type * from "./contract/access.ts";
export type * from "./contract/allowances.ts";
export type * from "./contract/oauth.ts";
export type * from "./contract/vault.ts";
export type * from "./contract/wallet.ts";
export type { AccountRow, AppRow, EntryRow, JobRow } from "./sql/schema.ts";
