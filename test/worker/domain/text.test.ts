import { describe, expect, it } from "vitest";
import { readClaim, readText } from "../../../src/domain/claims.ts";
import { csvRow } from "../../../src/domain/csv.ts";
import { fingerprintOf, guardOf } from "../../../src/domain/idempotency_guard.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH, METADATA_MAX_BYTES } from "../../../src/domain/limits.ts";
import { isMetadata, metadataBytes, serialiseMetadata } from "../../../src/domain/metadata.ts";
import { nameScopes, readScope } from "../../../src/domain/oauth_scopes.ts";
import {
  FIRST_POSITION,
  PAYMENT_LISTS,
  positionAfter,
  readCursor,
  writeCursor,
} from "../../../src/domain/payment_list.ts";
import { findInvisible, lowerCaseAscii, toHexadecimal } from "../../../src/domain/text.ts";

describe("text", () => {
  it("only letters of ASCII become lower case", () => {
    expect(lowerCaseAscii("AZaz-\u212a\u00c4")).toBe("azaz-\u212a\u00c4");
  });

  it("an invisible character is named by its number, and a line feed is visible", () => {
    expect(findInvisible("a\u202eb")).toBe("U+202E");
    expect(findInvisible("a\u0007")).toBe("U+0007");
    expect(findInvisible("a\nb c")).toBeNull();
  });

  it("bytes are written as two hexadecimal digits each", () => {
    expect(toHexadecimal(new Uint8Array([0, 10, 255]).buffer)).toBe("000aff");
  });

  it("a cell that a spreadsheet would run gets an apostrophe, and other cells are as they are", () => {
    const cells = ["=1+1", " -1", "a", 'say "x"', -5, null, "\uff1dx"];
    expect(csvRow(cells)).toBe(`"'=1+1","' -1","a","say ""x""",-5,,"'\uff1dx"\r\n`);
  });

  it("the words of a scope are read once each, and named in ASCII", () => {
    expect(readScope(" read  write read ")).toEqual(["read", "write"]);
    expect(nameScopes(["r\u00e9ad", 'a"b', "c\\d", "x y"])).toBe("r?ad a?b c?d x?y");
    expect(nameScopes(["1", "2", "3", "4", "5", "6"])).toBe("1 2 3 4 5");
    expect(nameScopes(["x".repeat(61)])).toBe("x".repeat(60));
  });
});

describe("metadata of a job", () => {
  function nested(levels: number): object {
    let value: object = {};
    for (let level = 1; level < levels; level += 1)
      value = level % 2 === 0 ? { value, text: "x" } : { list: [1, null, value] };
    return value;
  }
  const depthOf = (value: object): number =>
    1 +
    Math.max(
      0,
      ...Object.values(value).map((it) =>
        it !== null && typeof it === "object" ? depthOf(it) : 0,
      ),
    );

  it("metadata nests 64 levels at most", () => {
    const deep = { a: nested(43) };
    expect(depthOf(deep)).toBe(65);
    expect(isMetadata(deep)).toBe(false);
    expect(isMetadata(deep.a)).toBe(true);
    expect(isMetadata({ a: "text", b: null, c: 5 })).toBe(true);
  });

  it("metadata is stored as JSON up to its limit in bytes", () => {
    const fill = (bytes: number) => ({ a: "x".repeat(bytes - '{"a":""}'.length) });
    const largest = fill(METADATA_MAX_BYTES);
    expect(serialiseMetadata(largest)).toEqual({ ok: true, value: JSON.stringify(largest) });
    expect(serialiseMetadata(fill(METADATA_MAX_BYTES + 1))).toEqual({
      ok: false,
      refusal: { code: "metadata_too_large", limit_bytes: METADATA_MAX_BYTES },
    });
  });

  it("the size of metadata is its bytes in UTF-8, and 0 without metadata", () => {
    expect(metadataBytes('"\u00e9"')).toBe(4);
    expect(metadataBytes(null)).toBe(0);
  });
});

describe("an idempotency key", () => {
  it("a key has up to its longest number of printable characters, and a request may have none", async () => {
    const longest = "k".repeat(IDEMPOTENCY_KEY_MAX_LENGTH);
    const fingerprint = await fingerprintOf({ a: 1 });
    expect(await guardOf(longest, { a: 1 })).toEqual({
      ok: true,
      value: { key: longest, fingerprint },
    });
    expect(await guardOf(undefined, {})).toEqual({ ok: true, value: null });
    for (const key of [`${longest}k`, "", "a b", "\u00e9"])
      expect(await guardOf(key, {})).toMatchObject({ refusal: { code: "invalid_request" } });
  });

  it("a request has the digest of its body", async () => {
    expect(await fingerprintOf({})).toBe(
      "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
    );
  });
});

describe("claims about a person", () => {
  const claims = { "https://a.example/name": "Ada", user: { name: "Bo", none: null }, list: ["x"] };

  it.each([
    ["https://a.example/name", "Ada"],
    ["user.name", "Bo"],
    ["user.none", null],
    ["user.none.more", undefined],
    ["user.name.more", undefined],
    ["user.name.length", undefined],
    ["user.missing", undefined],
    ["user.toString", undefined],
    ["list.0", "x"],
    ["missing", undefined],
  ])("the claim %s is %s", (path, value) => {
    expect(readClaim(claims, path)).toBe(value);
  });

  it("a text of usable length is read, and anything else is not", () => {
    const read = (value: unknown) => readText({ value }, "value");
    expect(read("Ada")).toBe("Ada");
    expect(read("x".repeat(254))).toBe("x".repeat(254));
    for (const value of ["x".repeat(255), "", 5, null, undefined, "\ud800"])
      expect(read(value)).toBeNull();
    expect(readText({ null: "x" }, null)).toBeNull();
  });
});

describe("the lists of the payment service", () => {
  it("the lists are read one after another, each page behind the one before", () => {
    expect(FIRST_POSITION).toEqual({ list: PAYMENT_LISTS[0], after: null });
    expect(positionAfter("checkouts", "cs_1")).toEqual({ list: "checkouts", after: "cs_1" });
    for (const [at, list] of PAYMENT_LISTS.entries()) {
      const next = PAYMENT_LISTS[at + 1];
      expect(positionAfter(list, null)).toEqual(
        next === undefined ? null : { list: next, after: null },
      );
    }
  });

  it("a position is read as it was written, and other texts are not positions", () => {
    for (const after of [null, "re_1"])
      for (const list of PAYMENT_LISTS)
        expect(readCursor(writeCursor({ list, after }))).toEqual({ list, after });
    expect(writeCursor({ list: "refunds", after: "re_1" })).toBe("refunds:re_1");
    for (const text of ["", "people", "refunds:", "refunds:a b"])
      expect(readCursor(text)).toBeNull();
  });
});
