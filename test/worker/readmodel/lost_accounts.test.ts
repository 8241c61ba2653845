import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { LOST_ACCOUNTS_REPAIRED } from "../../../src/domain/limits.ts";
import { repairLostAccounts } from "../../../src/operations/lost_accounts.ts";
import { upkeepOf } from "../../../src/services.ts";
import { fireAlarm, query } from "../support/account_object.ts";
import { signIn, signInWithCredits } from "../support/passbook.ts";

const listed = async () =>
  (await env.DB.prepare("select identity_id, credits from accounts order by identity_id").all())
    .results;

const TABLES = "select name from sqlite_master where name not like '\\_cf%' escape '\\'";

describe("lost accounts of the read model", () => {
  it("the schedule restores accounts that D1 lost and nobody uses", async () => {
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

  it("each run repairs a bounded number of lost accounts until all are repaired", async () => {
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

  it("repairing people without an account stores nothing in their objects", async () => {
    const log = vi.spyOn(console, "log").mockReturnValue();
    const signed_in = (await signIn("never-opened@example.com")).identity_id;
    const unreached = "user_unreached";
    await env.DIRECTORY.prepare(
      "insert into users (id, created_at_ms, person_id) values (?, 1, 'person')",
    )
      .bind(unreached)
      .run();
    await upkeepOf(env)();
    expect(log).toHaveBeenCalledWith(
      expect.objectContaining({ lost_accounts: { compared: 2, repaired: 0 } }),
    );
    for (const identity_id of [signed_in, unreached]) {
      const account = env.ACCOUNT.getByName(identity_id);
      await account.rebuild();
      await account.catchUp();
      expect(await account.repair()).toBe("nothing_missing");
      expect(await fireAlarm(identity_id)).toBe(false);
    }
    expect(await query(unreached, TABLES)).toEqual([]);
    for (const table of ["account", "entries", "read_model_behind"]) {
      expect(await query(signed_in, `select * from ${table}`)).toEqual([]);
    }
  });

  it("a lost account among many people without an account is reached from some start", async () => {
    const people = Array.from({ length: 10 * LOST_ACCOUNTS_REPAIRED }, (_, at) =>
      String(at).padStart(4, "0"),
    );
    const requested = new Set<string>();
    const stores = {
      listPeople: async (after: string, limit: number) =>
        people.filter((id) => id > after).slice(0, limit),
      knownTo: async () => new Set<string>(),
      repair: async (id: string) => {
        requested.add(id);
        return "nothing_missing" as const;
      },
    };
    for (const start of people.filter((_, at) => at % LOST_ACCOUNTS_REPAIRED === 0)) {
      const sum = await repairLostAccounts(stores, start);
      expect(sum).toEqual({ compared: people.length, repaired: 0 });
    }
    expect(requested.size).toBe(people.length);
  });

  it("a run that cannot reach D1 fails after it has tried every account", async () => {
    const stores = {
      listPeople: async (after: string) => (after === "" ? ["ada", "bob"] : []),
      knownTo: async () => new Set<string>(),
    };
    const repair = vi.fn(async () => "unreachable" as const);
    await expect(repairLostAccounts({ ...stores, repair }, "x")).rejects.toThrow("D1");
    expect(repair).toHaveBeenCalledTimes(2);
  });
});
