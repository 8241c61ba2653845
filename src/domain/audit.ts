/** Entries of the audit log: who did what to whom, when, why, and what it changed. */
/** The act of deleting a person's account. */
export const DELETION_ACT = "account.delete";

/** An action that is about to be done. */
export interface AuditedAction {
  /** The operator's identity. */
  readonly actor: string;
  /** A stable name, such as `account.credits`. */
  readonly act: string;
  /** The identity or app slug that is changed. */
  readonly subject: string;
  readonly reason: string | null;
  readonly request_id: string;
  /** Further data. Never a secret: every operator reads the log. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The operator's `Idempotency-Key` and a digest of the body; null: without a key. */
  readonly guard: { readonly key: string; readonly fingerprint: string } | null;
}

/** `replayed`: the key's first response was returned again, and nothing happened. */
export type AuditOutcome = "done" | "refused" | "replayed";

/** An entry of the log. `outcome` is `unknown` if no outcome was logged. */
export interface AuditEntry extends Omit<AuditedAction, "guard"> {
  readonly id: string;
  readonly at_ms: number;
  readonly outcome: AuditOutcome | "unknown";
  /** Null: the action changed no field, or it is unknown what it changed. */
  readonly changed: Changes | null;
}

/** The fields that an action changed, with their values before and after it. */
export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

export interface AuditFilter {
  readonly from_ms?: number | undefined;
  /** Not included. */
  readonly to_ms?: number | undefined;
  readonly actor?: string | undefined;
  readonly act?: string | undefined;
  readonly subject?: string | undefined;
  /** Of the request that acted. */
  readonly request_id?: string | undefined;
  readonly before_id?: string | undefined;
  readonly limit: number;
}
