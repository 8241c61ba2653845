import { describe, expect, it } from "vitest";
import { FULL_ACCESS } from "../../../src/domain/allowance.ts";
import {
  approve,
  collect,
  confirmsUserCode,
  deny,
  DEVICE_CODE_KEEP_MS,
  forgottenAt,
  open,
  readUserCode,
  start,
  userCodeFrom,
  type LoginGrant,
  type LoginState,
} from "../../../src/domain/device_login.ts";

const START_MS = 1_000;
const END_MS = 11_000;
const NEW = start(START_MS, 10);
const GRANT: LoginGrant = {
  identity_id: "ada",
  limits: FULL_ACCESS,
  session_id: "session",
  signin_method: null,
  session_ends_at_ms: null,
};
const refusal = (code: string) => ({ ok: false, refusal: { code } });
const of = (result: { readonly ok: boolean; readonly value?: LoginState }): LoginState => {
  if (result.value === undefined) throw new Error("the step was refused");
  return result.value;
};

describe("the states of a device login", () => {
  it("a new login is pending for its time, and its code is kept longer", () => {
    expect(NEW).toEqual({ expires_at_ms: END_MS, phase: { name: "pending", opened_by: null } });
    expect(forgottenAt(NEW)).toBe(END_MS + DEVICE_CODE_KEEP_MS);
    expect(collect(NEW, END_MS - 1)).toEqual({ ok: true, value: { kind: "pending" } });
  });

  it("a login belongs to the person who opened it first, and opening it again changes nothing", () => {
    const opened = of(open(NEW, "ada", START_MS));
    expect(opened.phase).toEqual({ name: "pending", opened_by: "ada" });
    expect(of(open(opened, "ada", START_MS))).toBe(opened);
    const foreign = refusal("user_code_invalid");
    expect(open(opened, "bo", START_MS)).toEqual(foreign);
    expect(deny(opened, "bo", START_MS)).toEqual(foreign);
    expect(approve(opened, { ...GRANT, identity_id: "bo" }, START_MS)).toEqual(foreign);
    expect(approve(opened, GRANT, START_MS).ok).toBe(true);
    expect(deny(opened, "ada", START_MS).ok).toBe(true);
  });

  it("a login that nobody opened can be decided by anyone", () => {
    expect(deny(NEW, "bo", START_MS)).toEqual({
      ok: true,
      value: { ...NEW, phase: { name: "denied" } },
    });
    expect(of(approve(NEW, GRANT, START_MS)).phase).toEqual({ name: "approved", grant: GRANT });
  });

  it("an approved login is collected once, and decided no more", () => {
    const approved = of(approve(NEW, GRANT, START_MS));
    const redeemed: LoginState = { ...approved, phase: { name: "redeemed" } };
    expect(collect(approved, START_MS)).toEqual({
      ok: true,
      value: { kind: "collected", grant: GRANT, state: redeemed },
    });
    expect(collect(redeemed, START_MS)).toEqual(refusal("already_used"));
    for (const state of [approved, redeemed]) {
      expect(open(state, "ada", START_MS)).toEqual(refusal("already_used"));
      expect(approve(state, GRANT, START_MS)).toEqual(refusal("already_used"));
      expect(deny(state, "ada", START_MS)).toEqual(refusal("already_used"));
    }
  });

  it("a denied login is denied for the device and for every person", () => {
    const denied = of(deny(NEW, "ada", START_MS));
    expect(collect(denied, START_MS)).toEqual(refusal("access_denied"));
    expect(approve(denied, GRANT, START_MS)).toEqual(refusal("access_denied"));
  });

  it("a login expires at its end, approved or not", () => {
    const expired = refusal("expired_token");
    const approved = of(approve(NEW, GRANT, END_MS - 1));
    for (const state of [NEW, approved]) {
      expect(collect(state, END_MS)).toEqual(expired);
      expect(open(state, "ada", END_MS)).toEqual(expired);
    }
    expect(approve(NEW, GRANT, END_MS)).toEqual(expired);
    expect(collect(approved, END_MS - 1).ok).toBe(true);
  });
});

describe("the letters of a user code", () => {
  it("more random bytes than needed give a code of eight letters", () => {
    expect(userCodeFrom(new Uint8Array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))).toBe("BCDFGHJK");
  });

  it("a person confirms a code with its last half or all of it, in any case", () => {
    for (const typed of ["GHJK", "gh-jk", "BCDFGHJK", "bcdf ghjk"])
      expect(confirmsUserCode("BCDFGHJK", typed)).toBe(true);
    for (const typed of ["", "BCDF", "FGHJK", "GHJ", "GHJX"])
      expect(confirmsUserCode("BCDFGHJK", typed)).toBe(false);
  });

  it("a text of 64 characters is read, and a longer one is not", () => {
    const longest = `BCDFGHJK${" ".repeat(56)}`;
    expect(readUserCode(longest)).toBe("BCDFGHJK");
    expect(readUserCode(`${longest} `)).toBeNull();
    expect(confirmsUserCode("BCDFGHJK", longest)).toBe(true);
    expect(confirmsUserCode("BCDFGHJK", `${longest} `)).toBe(false);
  });
});
