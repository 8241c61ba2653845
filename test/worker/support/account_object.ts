/** Reads and changes an account's object in a test, and simulates evictions and alarms of the platform. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { onTestFinished, vi } from "vitest";
import { DAY_MS } from "../../../src/domain/calendar.ts";
import type { EntryRow, JobRow } from "../../../src/account/sql/schema.ts";

function stubOf(identity_id: string) {
  return env.ACCOUNT.getByName(identity_id);
}

/** Rows of the object's own tables. */
export interface Contents {
  readonly entries: readonly EntryRow[];
  readonly jobs: readonly JobRow[];
  readonly long_jobs: readonly { job_id: string; expires_at_ms: number }[];
  readonly apps: readonly { slug: string; starter_credits: number; granted_at_ms: number | null }[];
}

/** Runs SQL inside the object and returns the rows. */
export function query<Row>(identity_id: string, sql: string): Promise<Row[]> {
  return runInDurableObject(stubOf(identity_id), (_, state) =>
    state.storage.sql.exec(sql).toArray(),
  ) as Promise<Row[]>;
}

/** Changes rows in storage and restarts the object, whose memory is then wrong. */
export async function change(identity_id: string, sql: string): Promise<void> {
  await query(identity_id, sql);
  await evictDurableObject(stubOf(identity_id));
}

export async function readContents(identity_id: string): Promise<Contents> {
  return {
    entries: await query(identity_id, "select * from entries order by line"),
    jobs: await query(identity_id, "select * from jobs order by id"),
    long_jobs: await query(identity_id, "select * from long_jobs order by job_id"),
    apps: await query(identity_id, "select * from apps order by slug"),
  };
}

/**
 * Everything the object has stored, as text: equal before and after means that nothing changed. Without the responses of more
 * than a day ago, which an alarm may delete at any time.
 */
export async function dump(identity_id: string): Promise<string> {
  const account = await query(identity_id, "select * from account");
  const keys = await query(
    identity_id,
    `select * from idempotency_keys where created_at_ms > ${Date.now() - DAY_MS}`,
  );
  return JSON.stringify([account, keys, await readContents(identity_id)]);
}

/** Counts the rows that the object's SQL writes until the test ends. Alarms are not counted. */
export async function countRowsWritten(identity_id: string): Promise<() => number> {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  await runInDurableObject(stubOf(identity_id), (_, state) => {
    const prototype = Object.getPrototypeOf(state.storage.sql);
    const exec = prototype.exec;
    vi.spyOn(prototype, "exec").mockImplementation(function (this: SqlStorage, ...args: unknown[]) {
      const cursor = Reflect.apply(exec, this, args) as (typeof cursors)[number];
      cursors.push(cursor);
      return cursor;
    });
  });
  return () => cursors.reduce((sum, cursor) => sum + cursor.rowsWritten, 0);
}

/** Gives objects other settings until the test ends. This one starts again, since an object reads them when it starts. */
export async function useSettings(
  identity_id: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  await runInDurableObject(stubOf(identity_id), (instance) => {
    const environment: object = Reflect.get(instance, "env");
    const before = Object.keys(settings).map((name) => [name, Reflect.get(environment, name)]);
    Object.assign(environment, settings);
    onTestFinished(() => void Object.assign(environment, Object.fromEntries(before)));
  });
  await evict(identity_id);
}

/** Counts the rows that the object's SQL reads until the test ends. Each call returns the rows since the one before. */
export async function countRowsRead(identity_id: string): Promise<() => number> {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  await runInDurableObject(stubOf(identity_id), (_, state) => {
    const prototype = Object.getPrototypeOf(state.storage.sql);
    const exec = prototype.exec;
    const counting = vi.spyOn(prototype, "exec");
    counting.mockImplementation(function (this: SqlStorage, ...args: unknown[]) {
      const cursor = Reflect.apply(exec, this, args) as (typeof cursors)[number];
      cursors.push(cursor);
      return cursor;
    });
  });
  return () => cursors.splice(0).reduce((sum, cursor) => sum + cursor.rowsRead, 0);
}

/** Drops the object from memory, as the platform may at any time between two requests. */
export async function evict(identity_id: string): Promise<void> {
  // Only a running object can be evicted.
  await query(identity_id, "select 1");
  await evictDurableObject(stubOf(identity_id));
}

/** When the object's alarm fires, in milliseconds since the epoch; null: none is set. */
export function readAlarm(identity_id: string): Promise<number | null> {
  return runInDurableObject(stubOf(identity_id), (_, state) => state.storage.getAlarm());
}

/** Fires the object's alarm now. False: none is set. */
export function fireAlarm(identity_id: string): Promise<boolean> {
  return runDurableObjectAlarm(stubOf(identity_id));
}

/** Calls the alarm handler whether or not an alarm is armed, as a retry by the platform does. */
export async function repeatAlarm(identity_id: string): Promise<void> {
  await runInDurableObject(stubOf(identity_id), (instance) => instance.alarm());
}
