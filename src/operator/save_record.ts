/**
 * Saving a record of an app: the app itself, an OAuth client, a resource or a webhook. One rule for all of them:
 *
 * - Creating names no version, or 0. If the record exists, the save is refused as changed, unless nothing would change.
 * - Changing names the version that was read. If the record has another one by now, the save is refused as changed.
 *
 * A request that is repeated under its idempotency key gets the record as it is now, and changes nothing.
 */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import type { Changes } from "../domain/audit.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { Acting } from "./acting.ts";
import { performAction, type ActionRequest } from "./audited_action.ts";

/** The version of a record that a save changes. */
export const version = z.optional(
  z.int("must be a whole number").check(z.gte(0, "must be the version that you read")),
);

export interface StoredRecord {
  /** Increases with each save, from 1. */
  readonly version: number;
  /** The audit entry of the last save, by which a retry of that save is recognised. */
  readonly last_audit_id: string | null;
}

export interface SavedRecord<Stored> {
  readonly record: Stored;
  /** A secret that this save created, which is shown only once; null if it created none. */
  readonly secret: string | null;
}

/** The part of a save in addition to its settings. */
interface SaveRequest extends ActionRequest {
  readonly version?: number | undefined;
}

/** One kind of record, and the one that is saved. */
export interface RecordKind<Body extends SaveRequest, Stored extends StoredRecord> {
  readonly act: string;
  /** The app's slug. */
  readonly subject: string;
  /** Names the record in the audit log, if the subject does not. */
  readonly details: Readonly<Record<string, string>>;
  readonly not_found: Refusal;
  readonly changed: Refusal;
  find(): Promise<Stored | null>;
  /** The settings of a record that is created with these. */
  completed(settings: SettingsOf<Body>): object;
  /** The same settings of a record. */
  settingsOf(record: Stored): object;
  /**
   * Creates the record if there was none before, else changes the version that was read. One query decides. Null: someone
   * else created or changed it first, and this save did nothing.
   */
  write(
    settings: SettingsOf<Body>,
    save: { readonly before: Stored | null; readonly audit_id: string },
  ): Promise<Result<SavedRecord<Stored> | null, Refusal>>;
  /** Follows each save, also one that an interrupted request repeats. */
  afterwards?(record: Stored): Promise<void>;
}

/** The body of a request with its idempotency key. */
export type Keyed<Body> = Body & Pick<ActionRequest, "key">;

/** A problem that the schema of a body cannot find, with the same path and message as one that it finds. */
export interface FieldProblem {
  readonly path: readonly [field: string, index?: number];
  readonly message: string;
}

type SettingsOf<Body> = Omit<Body, keyof SaveRequest>;

export async function saveRecord<Body extends SaveRequest, Stored extends StoredRecord>(
  acting: Acting,
  kind: RecordKind<Body, Stored>,
  { version: read_version = 0, reason, key, ...settings }: Body,
): Promise<OnceAnswer<SavedRecord<Stored>>> {
  const { act, subject } = kind;
  const details = { ...kind.details, ...settings, version: read_version };
  const find = async () => {
    const is_missing = read_version > 0 && (await kind.find()) === null;
    return is_missing ? refused(kind.not_found) : accepted(null);
  };
  let changes: Changes | null = null;
  const save = async (
    audit_id: string,
    is_done: boolean,
  ): Promise<OnceAnswer<SavedRecord<Stored>>> => {
    const before = await kind.find();
    if (is_done) return before === null ? refused(kind.not_found) : unchanged(before, true);
    if (before !== null && before.last_audit_id === audit_id) {
      await kind.afterwards?.(before);
      return unchanged(before, false);
    }
    if (read_version !== (before?.version ?? 0)) {
      if (before === null) return refused(kind.not_found);
      if (read_version > 0) return refused(kind.changed);
      const other = differences(kind.settingsOf(before), kind.completed(settings));
      return Object.keys(other).length === 0 ? unchanged(before, true) : refused(kind.changed);
    }
    const written = await kind.write(settings, { before, audit_id });
    if (!written.ok) return written;
    if (written.value === null) return save(audit_id, is_done);
    // The write succeeded, so the record that was found is the one that it changed. A new record's settings are in `details`.
    if (before !== null) {
      changes = differences(kind.settingsOf(before), kind.settingsOf(written.value.record));
    }
    await kind.afterwards?.(written.value.record);
    return accepted({ value: written.value, replayed: false });
  };
  return performAction(
    acting,
    { act, subject, reason, details, key, find },
    (_, { audit_id, is_done }) => save(audit_id, is_done),
    () => changes,
  );
}

function unchanged<Stored>(record: Stored, replayed: boolean) {
  return accepted({ value: { record, secret: null }, replayed });
}

/** The settings that differ. */
function differences(before: object, after: object): Changes {
  const from = new Map<string, unknown>(Object.entries(before));
  return Object.fromEntries(
    Object.entries(after as Readonly<Record<string, unknown>>)
      .filter(([name, to]) => JSON.stringify(from.get(name)) !== JSON.stringify(to))
      .map(([name, to]) => [name, { from: from.get(name), to }]),
  );
}
