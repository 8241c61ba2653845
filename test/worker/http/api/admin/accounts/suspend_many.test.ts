import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { signIn, signInWithCredits } from "../../../../support/passbook.ts";
import { operatorOnPages, signInOperator } from "../operators.ts";

const PATH = "/api/admin/accounts/suspend";
const KEY = { "Idempotency-Key": "wave" };
const REASON = "Wave of 21 November";

/** An operator, and people of a wave, two of whom have opened an account. */
async function wave(more = 0) {
  const olga = await signInOperator();
  const people = [
    await signInWithCredits("demo", "a@wave.example"),
    await signInWithCredits("demo", "b@wave.example"),
  ];
  for (let at = 0; at <= more; at += 1) people.push(await signIn(`c${at}@wave.example`));
  const identity_ids = people.map(({ identity_id }) => identity_id);
  const suspend = (body: object, headers: Record<string, string> = KEY) =>
    olga.send("POST", PATH, body, headers);
  const audit = async () =>
    (await olga.get("/api/admin/audit?act=account.suspend&limit=200")).body.entries;
  return { olga, people, identity_ids, suspend, audit };
}

describe("suspending many accounts", () => {
  it("each account is suspended with a record of its own, and an unknown identity fails by itself", async () => {
    const { people, identity_ids, suspend, audit } = await wave(12);
    const body = { identity_ids: ["nobody", ...identity_ids], reason: REASON };
    const { status, body: response } = await suspend(body);
    expect(status).toBe(200);
    expect(response.results).toEqual([
      { identity_id: "nobody", error: expect.any(String), code: "account_unknown" },
      ...identity_ids.map((identity_id) => ({ identity_id, ok: true })),
    ]);
    for (const person of people) {
      expect((await person.get("/api/wallet")).body.code).toBe("suspended");
    }
    const records = await audit();
    const subjects = records.map(({ subject }: { subject: string }) => subject);
    expect(subjects.toSorted()).toEqual(identity_ids.toSorted());
    for (const { reason, details } of records) {
      expect([reason, details.outcome, details.accounts]).toEqual([REASON, "done", 16]);
    }
  });

  it("an account may be named by its holder's verified e-mail address, and by no other address", async () => {
    const { people, identity_ids, suspend, audit } = await wave();
    await env.DIRECTORY.prepare("update users set email_verified = 0 where id = ?")
      .bind(identity_ids[1])
      .run();
    const named = ["a@wave.example", "b@wave.example", "x@wave.example"];
    const { results } = (await suspend({ identity_ids: named, reason: REASON })).body;
    expect(results.map(({ ok, code }: { ok?: true; code?: string }) => code ?? ok)).toEqual([
      true,
      "invalid_request",
      "account_unknown",
    ]);
    expect(results[0].identity_id).toBe("a@wave.example");
    expect((await people[0]?.get("/api/wallet"))?.body.code).toBe("suspended");
    expect((await people[1]?.get("/api/wallet"))?.status).toBe(200);
    const records = await audit();
    expect(records.map(({ subject }: { subject: string }) => subject)).toEqual([identity_ids[0]]);
  });

  it("a repeated request suspends nobody again, and tries the failed ones again", async () => {
    const { olga, identity_ids, suspend, audit } = await wave();
    const [first = ""] = identity_ids;
    const body = { identity_ids, reason: REASON };
    vi.spyOn(console, "error").mockReturnValue();
    const insert = env.DIRECTORY.prepare(
      "create trigger broken before insert on audit when new.subject <> ?1 begin select raise(abort, 'down'); end".replace(
        "?1",
        `'${first}'`,
      ),
    );
    await insert.run();
    const partly = (await suspend(body)).body.results;
    expect(partly.map(({ ok = false }) => ok)).toEqual([true, false, false]);
    expect(partly[1].code).toBe("unavailable");
    await env.DIRECTORY.exec("drop trigger broken");
    await olga.send("POST", `/api/admin/accounts/${first}/restore`, { reason: "mistake" });
    const again = (await suspend(body)).body.results;
    expect(again.map(({ ok = false }) => ok)).toEqual([true, true, true]);
    expect(await audit()).toHaveLength(3);
    const { account } = (await olga.get(`/api/admin/accounts/${first}`)).body;
    expect(account.suspended_at).toBeNull();
  });

  it("the same key with another list or another reason is 422 and suspends nobody", async () => {
    const { olga, identity_ids, suspend, audit } = await wave(1);
    const [first = "", second = "", third = "", fourth = ""] = identity_ids;
    await suspend({ identity_ids: [first, second], reason: REASON });
    for (const body of [
      { identity_ids: [first, third], reason: REASON },
      { identity_ids: [third, fourth], reason: REASON },
      { identity_ids: [first], reason: REASON },
      { identity_ids: [first, second], reason: "another" },
    ]) {
      expect(await suspend(body)).toMatchObject({
        status: 422,
        body: { code: "idempotency_key_reused" },
      });
    }
    expect(await audit()).toHaveLength(2);
    const one = await olga.send(
      "POST",
      `/api/admin/accounts/${third}/suspend`,
      { reason: "x" },
      KEY,
    );
    expect(one.status).toBe(200);
    const other_key = { "Idempotency-Key": "other" };
    const { status } = await suspend({ identity_ids: [third, fourth], reason: REASON }, other_key);
    expect(status).toBe(200);
  });

  it.each([
    ["no identities", { identity_ids: [], reason: REASON }],
    ["101 identities", { identity_ids: Array.from({ length: 101 }, String), reason: REASON }],
    ["an identity twice", { identity_ids: ["a", "a"], reason: REASON }],
    ["a text", { identity_ids: "a", reason: REASON }],
    ["no reason", { identity_ids: ["a"] }],
    ["an empty reason", { identity_ids: ["a"], reason: " " }],
    ["an unknown field", { identity_ids: ["a"], reason: REASON, all: true }],
  ])("%s is refused and suspends nobody", async (_, body) => {
    const { suspend, audit } = await wave();
    expect(await suspend(body)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(await audit()).toEqual([]);
  });

  it("a malformed idempotency key is refused as a whole", async () => {
    const { identity_ids, suspend, audit } = await wave();
    const body = { identity_ids, reason: REASON };
    expect((await suspend(body, { "Idempotency-Key": "a b" })).status).toBe(400);
    expect(await audit()).toEqual([]);
  });

  it("the role support cannot suspend an operator with a higher role among many accounts", async () => {
    const { olga, identity_ids, people } = await wave();
    const settings = { OPERATORS: "olga@example.com, sam@example.com=support" };
    const sam = operatorOnPages(await signIn("sam@example.com"), settings);
    const olga_id = olga.person.identity_id;
    const body = { identity_ids: [olga_id, ...identity_ids], reason: REASON };
    const { results } = (await sam.send("POST", PATH, body)).body;
    const error = expect.stringContaining("role admin");
    expect(results[0]).toEqual({ identity_id: olga_id, error, code: "role_required" });
    expect((await olga.get(PATH.replace("/suspend", ""))).status).toBe(200);
    for (const person of people) {
      expect((await person.get("/api/wallet")).body.code).toBe("suspended");
    }
  });
});
