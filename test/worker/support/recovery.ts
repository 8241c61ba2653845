/** Gives the objects of a test the double of point-in-time recovery that the development build has, and restores accounts. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, onTestFinished, vi } from "vitest";
import {
  bookmarkForTime,
  noteTime,
  recordChanges,
  restoreBookmark,
} from "../../../src/development/recovery.ts";
import { expectPaid } from "../account/invariants.ts";
import { accountId, archiveNow, prove } from "../archive/archived.ts";
import type { Operator } from "../http/api/admin/operators.ts";
import { evict, fireAlarm, query, readContents } from "./account_object.ts";
import { passTime } from "./clock.ts";
import type { SignedIn } from "./passbook.ts";

const MINUTE_MS = 60 * 1000;

type Person = Pick<SignedIn, "identity_id">;

/** Until the test ends. Changes of an account are recorded from its next transaction on. */
export async function giveRecovery(): Promise<void> {
  const stub = env.ACCOUNT.getByName("user_for_the_prototype");
  const prototype = await runInDurableObject(stub, (_, { storage }) => {
    const found = Object.getPrototypeOf(storage) as DurableObjectStorage;
    const transactionSync = Reflect.get(found, "transactionSync") as () => unknown;
    const spies = [
      vi.spyOn(found, "transactionSync").mockImplementation(function (
        this: DurableObjectStorage,
        work: () => unknown,
      ) {
        noteTime(this);
        const value: unknown = Reflect.apply(transactionSync, this, [work]);
        recordChanges(this);
        return value;
      }),
      vi.spyOn(found, "getBookmarkForTime").mockImplementation(async function (
        this: DurableObjectStorage,
        at,
      ) {
        return bookmarkForTime(this, at);
      }),
      vi.spyOn(found, "onNextSessionRestoreBookmark").mockImplementation(async function (
        this: DurableObjectStorage,
        bookmark,
      ) {
        return restoreBookmark(this, bookmark);
      }),
    ];
    return spies;
  });
  onTestFinished(() => {
    for (const spy of prototype) spy.mockRestore();
  });
}

export const accountOf = ({ identity_id }: Person) => env.ACCOUNT.getByName(identity_id);

export const pathOf = ({ identity_id }: Person) => `/api/admin/accounts/${identity_id}/recovery`;

/** The time that a restore goes back to. What follows happens later. */
export function now(): string {
  const at = new Date(Date.now()).toISOString();
  passTime(MINUTE_MS);
  return at;
}

export const restore = (olga: Operator, ada: Person, to: string) =>
  olga.send("POST", pathOf(ada), { to, reason: "A bad release" });

/** The first step of a restore, which ends the object. */
export async function begin(ada: Person, to: string): Promise<void> {
  try {
    await accountOf(ada).beginRecovery(Date.parse(to));
  } catch (error) {
    expect(String(error)).toContain("recovery_restart");
    return;
  }
  expect.fail("the object has not ended");
}

/** Waits until D1 has everything. Then the platform loses all that the account's object stored. */
export async function loseStorage({ identity_id }: Person): Promise<void> {
  await vi.waitFor(async () => {
    await fireAlarm(identity_id);
    const [newest] = await query(identity_id, "select max(line) as line from entries");
    const found = "select max(line) as line from accounts where identity_id = ?";
    expect(await env.DB.prepare(found).bind(identity_id).first()).toEqual(newest);
  });
  await runInDurableObject(accountOf({ identity_id }), async (_, { storage }) => {
    await storage.deleteAlarm();
    await storage.deleteAll();
  });
  await evict(identity_id);
}

/** The account, its archive and the read model say the same. */
export async function expectSound(olga: Operator, ada: Person): Promise<void> {
  const head = await archiveNow(ada.identity_id);
  const proof = await prove(await accountId(ada.identity_id), head);
  expect(proof.problems).toEqual([]);
  const [newest] = await query<{ line: number; balance_after: number; reserved_after: number }>(
    ada.identity_id,
    "select * from entries order by line desc limit 1",
  );
  expect(proof.newest).toMatchObject({
    line: newest?.line,
    credits: newest?.balance_after,
    held: newest?.reserved_after,
  });
  await expectPaid(ada.identity_id, await readContents(ada.identity_id));
  await fireAlarm(ada.identity_id);
  await vi.waitFor(async () => {
    const row = await env.DB.prepare(
      "select line, credits, reserved from accounts where identity_id = ?",
    )
      .bind(ada.identity_id)
      .first();
    expect(row).toEqual({
      line: newest?.line,
      credits: newest?.balance_after,
      reserved: newest?.reserved_after,
    });
  });
  // All accounts, and their sum with the daily totals.
  const compared = await olga.get("/api/admin/differences");
  expect(compared.body).toMatchObject({ differences: [], failed: [] });
}
