import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { fireAlarm } from "../../../../support/account_object.ts";
import { signIn, signInWithCredits } from "../../../../support/passbook.ts";
import { signInOperator } from "../operators.ts";

/** Three delivered accounts: Ada's and Bob's got starter credits of `demo`, Carla's of `draw`. Bob is suspended. */
async function crowd() {
  const olga = await signInOperator();
  const ada = await signInWithCredits("demo", "ada@example.com");
  const bob = await signInWithCredits("demo", "bob@Throwaway.example");
  const carla = await signInWithCredits("draw", "carla@example.com");
  const path = `/api/admin/accounts/${bob.identity_id}`;
  await olga.send("POST", `${path}/suspend`, { reason: "fraud" });
  for (const { identity_id } of [ada, bob, carla]) await fireAlarm(identity_id);
  const find = async (query: string): Promise<string[]> => {
    const { status, body } = await olga.get(`/api/admin/accounts?${query}`);
    if (status !== 200) throw new Error(body.error);
    return body.accounts.map((account: { email: string }) => account.email.split("@")[0]);
  };
  return { olga, ada, bob, carla, path, find };
}

describe("filters of the list of accounts", () => {
  it("the list filters by state, app, e-mail domain and time of opening, alone and together", async () => {
    const { find, olga } = await crowd();
    expect(await find("")).toEqual(["carla", "bob", "ada"]);
    expect(await find("state=suspended")).toEqual(["bob"]);
    expect(await find("state=active")).toEqual(["carla", "ada"]);
    expect(await find("app=demo")).toEqual(["bob", "ada"]);
    expect(await find("app=unknown")).toEqual([]);
    expect(await find("domain=example.com")).toEqual(["carla", "ada"]);
    expect(await find("domain=@THROWAWAY.example")).toEqual(["bob"]);
    expect(await find("domain=ample.com")).toEqual([]);
    expect(await find("app=demo&domain=example.com&state=active")).toEqual(["ada"]);
    expect(await find("q=carla&app=demo")).toEqual([]);
    const { accounts } = (await olga.get("/api/admin/accounts")).body;
    expect(accounts.map(({ state }: { state: string }) => state)).toEqual([
      "active",
      "suspended",
      "active",
    ]);
    const [newest] = accounts;
    expect(await find(`created_from=${newest.created_at}`)).toContain("carla");
    expect(await find("created_from=2000-01-01")).toHaveLength(3);
    expect(await find("created_from=2999-01-01")).toEqual([]);
  });

  it.each(["created", "credits"])(
    "the list sorted by %s has the same pages forwards and backwards",
    async (sort) => {
      const { olga } = await crowd();
      // Equal values, so that only the ids decide.
      await env.DB.exec("update accounts set created_at_ms = 5, credits = 7");
      const pages = async (order: string): Promise<string[]> => {
        const found: string[] = [];
        let cursor = "";
        do {
          const path = `/api/admin/accounts?sort=${sort}&order=${order}&limit=1${cursor}`;
          const { body } = await olga.get(path);
          found.push(...body.accounts.map(({ id }: { id: string }) => id));
          cursor = body.next_cursor ? `&cursor=${body.next_cursor}` : "";
        } while (cursor !== "");
        return found;
      };
      const ids = await pages("desc");
      expect(new Set(ids).size).toBe(3);
      expect(await pages("asc")).toEqual(ids.toReversed());
    },
  );

  it.each(["state=closed", "domain=x", "app=A!", "created_from=yesterday", "order=up"])(
    "the list refuses the filter %s",
    async (query) => {
      const olga = await signInOperator();
      expect((await olga.get(`/api/admin/accounts?${query}`)).status).toBe(400);
    },
  );

  it("suspending and restoring an account writes an entry each, once, and the list follows", async () => {
    const { olga, bob, path, find } = await crowd();
    await olga.send("POST", `${path}/suspend`, { reason: "again" });
    await olga.send("POST", `${path}/restore`, { reason: "mistake" });
    await olga.send("POST", `${path}/restore`, { reason: "again" });
    await fireAlarm(bob.identity_id);
    expect(await find("state=suspended")).toEqual([]);
    const { body } = await olga.get(`${path}/ledger`);
    expect(
      body.entries.map((entry: { kind: string; amount: number }) => [entry.kind, entry.amount]),
    ).toEqual([
      ["restore", 0],
      ["suspend", 0],
      ["grant", 100],
      ["open", 0],
    ]);
  });

  it("restoring an account that was never opened or suspended writes nothing", async () => {
    const olga = await signInOperator();
    const eve = await signIn("eve@example.com");
    const path = `/api/admin/accounts/${eve.identity_id}`;
    await olga.send("POST", `${path}/restore`, { reason: "mistake" });
    expect((await olga.get(`${path}/ledger`)).body.entries).toEqual([]);
  });

  it("a wrong state in the read model is corrected by a rebuild", async () => {
    const { olga, bob, path, find } = await crowd();
    await env.DB.exec("update accounts set suspended_at_ms = null");
    expect(await find("state=suspended")).toEqual([]);
    await olga.send("POST", `${path}/rebuild`, {});
    await fireAlarm(bob.identity_id);
    expect(await find("state=suspended")).toEqual(["bob"]);
  });
});

describe("the list of accounts of an e-mail domain", () => {
  it("the search by e-mail domain uses an index", async () => {
    const { results } = await env.DIRECTORY.prepare(
      `explain query plan select id from users where email_domain = 'example.com' order by created_at_ms desc limit 2400`,
    ).all<{ detail: string }>();
    expect(results.map(({ detail }) => detail)).toEqual([
      "SEARCH users USING INDEX users_email_domain (email_domain=?)",
    ]);
  });
});
