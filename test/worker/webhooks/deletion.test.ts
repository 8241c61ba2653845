import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { ERASURE_DELIVERY_MAX_MS } from "../../../src/account/deletion/erasure.ts";
import { fireAlarm, query } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import {
  accountOf,
  ADA,
  APP,
  createJob,
  deliver,
  deliveriesOf,
  fireSender,
  HOLDER,
  openAccount,
  openReceiver,
  readSenderAlarm,
  senderOf,
  settle,
} from "./receiver.ts";

/** Fires the account's and the sender's alarms until the account is erased, for at most `ms`. */
async function erase(webhook: { readonly uid: string }, ms = 60_000): Promise<boolean> {
  const until_ms = Date.now() + ms;
  while (Date.now() < until_ms) {
    await fireAlarm(ADA);
    await deliver(webhook);
    const [row] = await query<{ erasure: string }>(ADA, "select erasure from account");
    if (row?.erasure === "done") return true;
    passTime(ms / 30);
  }
  return false;
}

describe("deleting an account", () => {
  it("apps with the account open learn that it was deleted, after the ends of their jobs", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    await createJob(30);
    await deliver(webhook);
    await accountOf().deleteAccount(HOLDER);
    expect(await erase(webhook)).toBe(true);
    expect(receiver.types.slice(2)).toEqual(["job.expired", "account.deleted"]);
    // Nothing names the account any more.
    expect(await deliveriesOf(webhook).attempts()).toEqual([]);
    expect(await senderOf(webhook).attempts()).toEqual([]);
    const { id, body } = receiver.received.at(-1) ?? expect.fail("nothing");
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(body.data).toEqual({ identity_id: ADA, line: 4, credits: 100, held: 0 });
  });

  it("an app that the holder stopped does not learn that the account was deleted", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    await accountOf().stopApp(HOLDER, { slug: APP, started_jobs: "keep" });
    await accountOf().deleteAccount(HOLDER);
    expect(await erase(webhook)).toBe(true);
    expect(receiver.types).not.toContain("account.deleted");
  });

  it("a receiver that was down for days gets the deletion after the account's rows are erased", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    receiver.fail();
    await accountOf().deleteAccount(HOLDER);
    expect(await erase(webhook, ERASURE_DELIVERY_MAX_MS / 2)).toBe(false);
    expect(await erase(webhook, ERASURE_DELIVERY_MAX_MS)).toBe(true);
    expect(await query(ADA, "select * from entries")).toEqual([]);
    receiver.recover();
    passTime(((await readSenderAlarm(webhook)) ?? 0) - Date.now());
    await fireSender(webhook);
    expect(receiver.types).toEqual(["account.deleted"]);
    expect(receiver.received[0]?.body.data).toMatchObject({ identity_id: ADA, credits: 100 });
  });

  it("a receiver gets the deletion once, and then its sender forgets the account", async () => {
    const { receiver, webhook } = await openReceiver({ events: ["account.deleted"] });
    await openAccount();
    await accountOf().deleteAccount(HOLDER);
    await erase(webhook);
    for (const news of ["2.0", "3.0"] as const) {
      expect(await senderOf(webhook).close(news, null)).toBe(true);
      await senderOf(webhook).wake(news);
    }
    await settle();
    passTime(8 * 24 * 60 * 60_000);
    await fireSender(webhook);
    expect(receiver.received.map(({ body }) => body.data["identity_id"])).toEqual([ADA]);
    const stored = await runInDurableObject(senderOf(webhook), (_, { storage }) => [
      ...storage.kv.list(),
    ]);
    expect(stored).toEqual([]);
    const page = { status: null, after_identity_id: "", limit: 10 };
    expect((await deliveriesOf(webhook).list(page)).deliveries).toEqual([]);
  });
});
