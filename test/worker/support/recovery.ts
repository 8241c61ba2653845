/** Gives the objects of a test the double of point-in-time recovery that the development build has. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { onTestFinished, vi } from "vitest";
import {
  bookmarkForTime,
  noteTime,
  recordChanges,
  restoreBookmark,
} from "../../../src/development/recovery.ts";

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
