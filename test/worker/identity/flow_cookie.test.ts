import { base64url } from "jose";
import { describe, expect, it, vi } from "vitest";
import { SIGNIN_FLOW_TTL_SECONDS } from "../../../src/domain/limits.ts";
import { createFlowCookies, type Flow } from "../../../src/identity/builtin/flow_cookie.ts";
import {
  FLOW_PURPOSE,
  flowKeys,
  vaultKeys,
  type EncryptionKey,
  type EncryptionKeys,
} from "../../../src/keys/encryption.ts";
import { sealFor, type SealingContext } from "../../../src/keys/sealing.ts";

const BASE_URL = "https://id.family.test";
const NAME = "__Host-passbook_signin";

const drawKey = (kid: string): EncryptionKey => ({
  kid,
  k: base64url.encode(crypto.getRandomValues(new Uint8Array(32))),
});

const key = drawKey("2026; of spring.");
const other = drawKey("other");

const flow: Flow = {
  provider: "acme",
  state: "state",
  nonce: "nonce",
  code_verifier: "verifier",
  redirect_to: "https://app.family.test/?next=%2F",
  again_at_ms: null,
  link_to: null,
};

const carrying = (value: string): Request =>
  new Request(BASE_URL, { headers: { Cookie: `${NAME}=${value}` } });

const openWith = (keys: readonly EncryptionKey[], value: string): Promise<Flow | null> =>
  createFlowCookies(keys).open(BASE_URL, carrying(value));

async function sealedValue(keys: readonly EncryptionKey[]): Promise<string> {
  const cookie = await createFlowCookies(keys).seal(BASE_URL, flow);
  return /=([^;]+);/.exec(cookie)?.[1] ?? "";
}

/** Seals a cookie's value without the tested code. */
async function sealByHand(
  keys: EncryptionKeys,
  context: SealingContext,
  value: object,
): Promise<string> {
  const { key_id, sealed } = await sealFor(keys, context, JSON.stringify(value));
  return `${base64url.encode(key_id)}.${sealed}`;
}

/** The key from which the keys of each use are derived. */
const underived: EncryptionKeys = {
  async first() {
    const raw = base64url.decode(key.k);
    return {
      kid: key.kid,
      key: await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt"]),
    };
  },
  named: async () => null,
};

const living = { flow, ends_at_ms: 8e15 };
const place: SealingContext = [FLOW_PURPOSE, BASE_URL];

describe("a flow cookie", () => {
  it("a flow cookie opens to its content with any key id", async () => {
    expect(await openWith([key], await sealedValue([key]))).toEqual(flow);
  });

  it("a flow cookie is sealed with the first key and opens with any key", async () => {
    const value = await sealedValue([key, other]);
    expect(await openWith([other, key], value)).toEqual(flow);
    expect(await openWith([other], value)).toBeNull();
  });

  it("a flow cookie does not open with another key of the same id", async () => {
    expect(await openWith([drawKey(key.kid)], await sealedValue([key]))).toBeNull();
  });

  it("a flow cookie expires by its sealed time even if a browser keeps it", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const value = await sealedValue([key]);
    const ends_at_ms = Date.now() + SIGNIN_FLOW_TTL_SECONDS * 1000;
    vi.setSystemTime(ends_at_ms - 1);
    expect(await openWith([key], value)).toEqual(flow);
    vi.setSystemTime(ends_at_ms);
    expect(await openWith([key], value)).toBeNull();
  });

  it.each([
    ["made like ours", flowKeys([key]), place, living, flow],
    ["sealed with the key itself", underived, place, living, null],
    ["sealed with an account's vault key", vaultKeys([key], "ada"), place, living, null],
    ["sealed for another purpose", flowKeys([key]), ["another", BASE_URL], living, null],
    [
      "sealed for another address",
      flowKeys([key]),
      [FLOW_PURPOSE, "https://evil.test"],
      living,
      null,
    ],
    ["without an end", flowKeys([key]), place, { flow }, null],
    ["without a state", flowKeys([key]), place, { ...living, flow: { provider: "acme" } }, null],
  ] as const)("%s opens as a flow or not", async (_case, keys, where, kept, opened) => {
    expect(await openWith([key], await sealByHand(keys, where, kept))).toEqual(opened);
  });

  it("a flow cookie with any part altered or missing does not open", async () => {
    const value = await sealedValue([key]);
    const [name = "", sealed = ""] = value.split(".");
    const swap = (at: number): string =>
      `${sealed.slice(0, at)}${sealed[at] === "A" ? "B" : "A"}${sealed.slice(at + 1)}`;
    const altered = Array.from({ length: sealed.length - 1 }, (_, at) => `${name}.${swap(at)}`);
    for (const forged of [
      ...altered,
      "",
      ".",
      name,
      sealed,
      `${name}.`,
      `.${sealed}`,
      `${name}.AAAA`,
      `${name}.${sealed.slice(0, -4)}`,
      `${value}.more`,
      `not base64url!.${sealed}`,
      `a.b.c.d.e`,
    ]) {
      expect(await openWith([key], forged)).toBeNull();
    }
  });

  it("a flow cookie is found among several cookies of its name", async () => {
    const value = await sealedValue([key]);
    const flows = createFlowCookies([key]);
    const request = carrying(`planted; ${NAME}=${value}`);
    expect(await flows.open(BASE_URL, request)).toEqual(flow);
  });
});
