import { decodeJwt } from "jose";
import { describe, expect, it, vi } from "vitest";
import { DAY_MS } from "../../../src/domain/calendar.ts";
import type { NewAllowance } from "../../../src/domain/allowance.ts";
import type { Refusal } from "../../../src/domain/refusals.ts";
import { accepted, refused, type Result } from "../../../src/domain/result.ts";
import { createMacKeys } from "../../../src/keys/mac.ts";
import { createMint } from "../../../src/tokens/mint.ts";
import { createPersonalTokens } from "../../../src/tokens/personal_token.ts";
import { HERE, keysOf, NEW } from "./forger.ts";

const NOW_MS = 2_000_000_000_000;
const macKeys = createMacKeys(keysOf(NEW), "personal access tokens");

const GRANT = {
  identity_id: "ada",
  limits: {} as never,
  session_id: "session 1",
  signin_method: "google",
  session_ends_at_ms: null,
};
const ORIGIN = { label: "Laptop", app_slug: "demo" };

type Session = { readonly signin_method: string | null } | null;

/** An account and sessions that accept everything until a test decides otherwise, with tokens of 90 days. */
class Parts {
  readonly personal_tokens = createPersonalTokens(macKeys);
  readonly ttl_days = 90;
  readonly issued: (readonly [identity_id: string, row: NewAllowance])[] = [];
  readonly revoked: (readonly [identity_id: string, id: string])[] = [];
  readonly sessions_read: string[] = [];
  answer: Result<null, Refusal> = accepted(null);
  session: () => Promise<Session> = async () => ({ signin_method: "google" });

  async issue(identity_id: string, row: NewAllowance): Promise<Result<null, Refusal>> {
    this.issued.push([identity_id, row]);
    return this.answer;
  }

  async revoke(identity_id: string, id: string): Promise<void> {
    this.revoked.push([identity_id, id]);
  }

  readSession(session_id: string, identity_id: string): Promise<Session> {
    this.sessions_read.push(`${session_id} of ${identity_id}`);
    return this.session();
  }

  /** The only row that was stored. */
  get row(): NewAllowance {
    expect(this.issued).toHaveLength(1);
    return this.issued[0]?.[1] ?? expect.fail("no row");
  }
}

function open() {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
  const parts = new Parts();
  const mint = (grant: object = {}, origin: object = {}) =>
    createMint(parts)(HERE, { ...GRANT, ...grant }, { ...ORIGIN, ...origin });
  return { parts, mint };
}

describe("issuing a personal access token", () => {
  it("the token names the holder and the stored row, and expires with it", async () => {
    const { parts, mint } = open();
    const minted = await mint();
    const token = minted.ok ? minted.value : expect.fail(minted.refusal.code);
    const { row } = parts;
    const expires_at_ms = NOW_MS + 90 * DAY_MS;
    const { session_id, signin_method, limits } = GRANT;
    const approval = { session_id, signin_method, ends_with_session: false };
    expect(parts.issued[0]?.[0]).toBe("ada");
    expect(row).toStrictEqual({ id: row.id, ...ORIGIN, limits, ...approval, expires_at_ms });
    const { jti, sub, iss, exp } = decodeJwt(token.slice("pb_pat_".length));
    expect([jti, sub, iss, exp]).toEqual([row.id, "ada", HERE, expires_at_ms / 1000]);
    expect(parts.sessions_read).toEqual(["session 1 of ada"]);
    expect(parts.revoked).toEqual([]);
  });

  it("the token and its row name the registered client that collects it", async () => {
    const { parts, mint } = open();
    const minted = await mint({}, { client_id: "demo~tv" });
    const token = minted.ok ? minted.value : expect.fail(minted.refusal.code);
    expect(parts.row).toMatchObject({ client_id: "demo~tv" });
    expect(await parts.personal_tokens.verify(HERE, token)).toMatchObject({ client_id: "demo~tv" });
  });

  it.each([
    ["a lifetime that the holder chose", {}, { ttl_days: 7 }, 7 * DAY_MS, false],
    ["at most the lifetime of the settings", {}, { ttl_days: 91 }, 90 * DAY_MS, false],
    ["until its session ends", { session_ends_at_ms: NOW_MS + DAY_MS }, {}, DAY_MS, true],
    [
      "at most its lifetime if the session lasts longer",
      { session_ends_at_ms: NOW_MS + 100 * DAY_MS },
      {},
      90 * DAY_MS,
      true,
    ],
  ])("a token is valid for %s", async (_, grant, origin, lifetime_ms, ends_with_session) => {
    const { parts, mint } = open();
    expect(await mint(grant, origin)).toMatchObject({ ok: true });
    expect(parts.row).toMatchObject({ expires_at_ms: NOW_MS + lifetime_ms, ends_with_session });
  });

  it("a deleted account issues no token: its grant has expired", async () => {
    const { parts, mint } = open();
    parts.answer = refused({ code: "unauthorized", reason: "account_deleted" });
    expect(await mint()).toEqual(refused({ code: "expired_token" }));
    expect(parts.sessions_read).toEqual([]);
  });

  it("another refusal of the account is passed on", async () => {
    const { parts, mint } = open();
    parts.answer = refused({ code: "account_unknown" });
    expect(await mint()).toEqual(refused({ code: "account_unknown" }));
    expect(parts.sessions_read).toEqual([]);
  });

  it.each([
    ["the approving session has ended", null],
    ["the approving sign-in method was unlinked", { signin_method: null }],
    ["the session has another sign-in method than at the approval", { signin_method: "github" }],
  ])("no token is issued if %s, and its row is ended", async (_, session) => {
    const { parts, mint } = open();
    parts.session = async () => session;
    expect(await mint()).toEqual(refused({ code: "expired_token" }));
    expect(parts.revoked).toEqual([["ada", parts.row.id]]);
  });

  it("a token whose approving session cannot be read is ended before anybody has it", async () => {
    const { parts, mint } = open();
    parts.session = () => Promise.reject(new Error("the directory is down"));
    await expect(mint()).rejects.toThrow("the directory is down");
    expect(parts.revoked).toEqual([["ada", parts.row.id]]);
  });
});
