/**
 * Saving a record of an app: the app itself, an OAuth client, a resource or a webhook. One rule for all of them:
 *
 * - Creating names no version, or 0. If the record exists, the save is refused as changed, unless nothing would change.
 * - Changing names the version that was read. If the record has another one by now, the save is refused as changed.
 *
 * A request that is repeated under its idempotency key gets the record as it is now, and changes nothing.
 */
import type { OnceAnswer } from "../account/contract.ts";
import type { Changes } from "../domain/audit.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { Acting } from "./acting.ts";
import { performAction } from "./audited_action.ts";

export interface StoredRecord {
  /** Increases with each save, from 1. */
  readonly version: number;
  /** The audit entry of the last save, by which a retry of that save is recognised. */
  readonly last_audit_id: string | null;
}

export interface SavedRecord<Stored> {
  readonly record: Stored;
  /** A secret that this save created, which is shown only once; null: none. */
  readonly secret: string | null;
}

/** One kind of record, and the one that is saved. */
export interface RecordKind<Settings extends object, Stored extends StoredRecord> {
  readonly act: string;
  /** The app's slug. */
  readonly subject: string;
  /** Names the record in the audit log, if the subject does not. */
  readonly details: Readonly<Record<string, string>>;
  readonly not_found: Refusal;
  readonly changed: Refusal;
  find(): Promise<Stored | null>;
  /** The settings of a record that is created with these. */
  completed(settings: Settings): object;
  /** The same settings of a record. */
  settingsOf(record: Stored): object;
  /**
   * Creates the record if there was none before, else changes the version that was read. One query decides. Null: someone
   * else created or changed it first, and this save did nothing.
   */
  write(
    settings: Settings,
    save: { readonly before: Stored | null; readonly audit_id: string },
  ): Promise<Result<SavedRecord<Stored> | null, Refusal>>;
  /** Follows each save, also one that an interrupted request repeats. */
  afterwards?(record: Stored): Promise<void>;
}

/** What a save contains besides its settings. */
export interface SaveRequest {
  readonly version?: number | undefined;
  readonly reason?: string | undefined;
  /** The idempotency key. */
  readonly key: string | undefined;
}

export async function saveRecord<Settings extends object, Stored extends StoredRecord>(
  acting: Acting,
  kind: RecordKind<Settings, Stored>,
  settings: Settings,
  { version = 0, reason, key }: SaveRequest,
): Promise<OnceAnswer<SavedRecord<Stored>>> {
  const { act, subject } = kind;
  const details = { ...kind.details, ...settings, version };
  const find = async () => {
    const is_missing = version > 0 && (await kind.find()) === null;
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
    if (version !== (before?.version ?? 0)) {
      if (before === null) return refused(kind.not_found);
      if (version > 0) return refused(kind.changed);
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
    { act, subject, reason: reason ?? null, details, key, find },
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
