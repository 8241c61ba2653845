/** What each kind of caller may do with the allowances of an account, at the account itself. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../../src/domain/calendar.ts";
import { ALLOWANCES_PER_ACCOUNT_MAX } from "../../../../src/domain/limits.ts";
import { query } from "../../support/account_object.ts";
import { issueToken, JOB_REQUEST, withToken } from "../../support/allowances.ts";
import { passTime } from "../../support/clock.ts";
import { getToken } from "../../support/device_logins.ts";
import { narrow } from "../../support/exchanges.ts";
import { signIn } from "../../support/passbook.ts";

const HOLDER = { kind: "holder" } as const;
const PAGE = { kind: "page", app_slugs: [] } as const;
const APP = { kind: "app", app_slug: "demo" } as const;

const account = (identity_id = "ada") => env.ACCOUNT.getByName(identity_id);

const issue = (id: string, changes: object = {}, identity_id = "ada") =>
  issueToken(identity_id, id, changes);

/** Starts a job of a token, so that the token's row stays after its end. */
const start = (id: string) => account().createJob(withToken(id), JOB_REQUEST, null);

const refusalOf = (refusal: object) => ({ ok: false, refusal: expect.objectContaining(refusal) });

it("an account has a hundred tokens at most, not counting those that were exchanged from them", async () => {
  const ada = await signIn();
  const { identity_id } = ada;
  const { token } = await getToken(ada);
  await narrow(token, { apps: ["demo"] }, { client_id: "" });
  for (let count = 1; count < ALLOWANCES_PER_ACCOUNT_MAX; count += 1) {
    expect(await issue(`token-${count}`, {}, identity_id)).toMatchObject({ ok: true });
  }
  const full = refusalOf({ code: "limit_reached", of: "tokens" });
  expect(await account(identity_id).checkRoomForAllowance(HOLDER)).toMatchObject(full);
  expect(await issue("one-more", {}, identity_id)).toMatchObject(full);
  expect(await query(identity_id, "select 1 from allowances")).toHaveLength(101);
});

it("issuing a token opens the account, so that a read-only token finds it open", async () => {
  await issue("token");
  expect(await query("ada", "select 1 from account")).toHaveLength(1);
});

it("a token shows when it was last used; null before that", async () => {
  passTime(0);
  await issue("token");
  const listed = () => account().listAllowances(HOLDER);
  expect(await listed()).toMatchObject({ value: [{ last_used_at_ms: null }] });
  passTime(DAY_MS / 2);
  const used_at_ms = Date.now();
  await account().listAllowances(withToken("token"));
  expect(await listed()).toMatchObject({ value: [{ last_used_at_ms: used_at_ms }] });
});

it("a page of another origin does not list the account's tokens", async () => {
  await issue("token");
  const refused = refusalOf({ code: "scope", reason: "not_whole" });
  expect(await account().listAllowances(PAGE)).toMatchObject(refused);
  expect(await account().listAllowances(HOLDER)).toMatchObject({ value: [{ id: "token" }] });
});

describe("changing an allowance", () => {
  const limits = {
    access: "write",
    upstream: false,
    admin: false,
    app_slugs: null,
    caps: [{ credits: 10, period: "total" }],
  };

  it("no token changes an allowance, not even its own name", async () => {
    await issue("token");
    const request = { id: "token", may_widen: true, label: "mine" };
    const refused = refusalOf({ code: "scope", reason: "holder_only" });
    expect(await account().changeAllowance(withToken("token"), request)).toMatchObject(refused);
  });

  it("a page of another origin widens none, and a session token of ours only one that ends with a session", async () => {
    await issue("token", { limits });
    await issue("bound", { limits, ends_with_session: true });
    const widen = (caller: typeof PAGE | typeof HOLDER, id: string) =>
      account().changeAllowance(caller, { id, may_widen: false, caps: [] });
    const refused = refusalOf({ code: "scope", reason: "own_page" });
    for (const id of ["token", "bound"]) expect(await widen(PAGE, id)).toMatchObject(refused);
    expect(await widen(HOLDER, "token")).toMatchObject(refused);
    expect(await widen(HOLDER, "bound")).toMatchObject({ ok: true, value: { caps: [] } });
  });
});

describe("revoking an allowance", () => {
  it("an app's key revokes no allowance", async () => {
    await account().wallet(HOLDER, {
      app: { slug: "demo", starter_credits: 0, is_registered: true },
    });
    await issue("token");
    const refused = refusalOf({ code: "scope", reason: "app_key" });
    expect(await account().revokeAllowance(APP, { id: "token" })).toMatchObject(refused);
  });

  it("a token that revokes an unknown allowance learns only that it may not", async () => {
    await issue("token");
    const refused = refusalOf({ code: "scope", reason: "itself_only" });
    expect(await account().revokeAllowance(withToken("token"), { id: "?" })).toMatchObject(refused);
  });

  it("an allowance is revoked once, and not from the millisecond of its expiry on", async () => {
    passTime(0);
    const not_found = refusalOf({ code: "personal_token_not_found" });
    for (const id of ["revoked", "expired"]) {
      await issue(id);
      expect(await start(id)).toMatchObject({ ok: true });
    }
    const revoke = (id: string) => account().revokeAllowance(HOLDER, { id });
    expect(await revoke("revoked")).toMatchObject({ ok: true });
    expect(await revoke("revoked")).toMatchObject(not_found);
    passTime(DAY_MS);
    expect(await revoke("expired")).toMatchObject(not_found);
    const ended = "select revoked_at_ms is null as lasts from allowances order by id";
    expect(await query("ada", ended)).toEqual([{ lasts: 1 }, { lasts: 0 }]);
  });
});

it("ending what a session approved ends its tokens, and those of other sessions stay", async () => {
  await issue("first", { session_id: "first" });
  await issue("second", { session_id: "second" });
  await account().revokeApprovedBy({ kind: "session", session_id: "first" });
  expect(await account().listAllowances(HOLDER)).toMatchObject({ value: [{ id: "second" }] });
});
