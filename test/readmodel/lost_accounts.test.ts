import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { upkeepOf } from "../../src/services.ts";
import { fireAlarm } from "../support/account_object.ts";
import { signIn, signInWithCredits } from "../support/passbook.ts";

const listed = async () =>
  (await env.DB.prepare("select identity_id, credits from accounts order by identity_id").all())
    .results;

describe("a read model that lost accounts", () => {
  it("gets accounts that nobody uses back from the schedule", async () => {
    vi.spyOn(console, "log").mockReturnValue();
    for (let person = 0; person < 5; person += 1) {
      const { identity_id } = await signInWithCredits("demo", `person${person}@example.com`);
      await fireAlarm(identity_id);
    }
    await signIn("without-an-account@example.com");
    const before = await listed();
    expect(before).toHaveLength(5);
    await env.DB.exec("delete from accounts");
    await upkeepOf(env)();
    expect(await listed()).toEqual(before);
  });

  it("repairs a bounded number of accounts in each run, and in the end all of them", async () => {
    const log = vi.spyOn(console, "log").mockReturnValue();
    for (let person = 0; person < 45; person += 1) {
      const { identity_id } = await signInWithCredits("demo", `person${person}@example.com`);
      await fireAlarm(identity_id);
    }
    await env.DB.exec("delete from accounts");
    await upkeepOf(env)();
    expect(await listed()).toHaveLength(40);
    expect(log).toHaveBeenCalledWith(
      expect.objectContaining({ lost_accounts: { compared: 45, repaired: 40 } }),
    );
    await upkeepOf(env)();
    expect(await listed()).toHaveLength(45);
  });
});
