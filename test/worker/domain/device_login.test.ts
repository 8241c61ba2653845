import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  USER_CODE_ALPHABET,
  readUserCode,
  showUserCode,
  userCodeFrom,
} from "../../../src/domain/device_login.ts";

const letter = fc.constantFrom(...USER_CODE_ALPHABET.split(""));
const user_code = fc.string({ unit: letter, minLength: 8, maxLength: 8 });

describe("a user code", () => {
  it("a user code is read in any case and with dashes or spaces", () => {
    const between = fc.array(fc.constantFrom(" ", "-", "–", "\u00a0", ""), {
      minLength: 9,
      maxLength: 9,
    });
    fc.assert(
      fc.property(user_code, between, fc.boolean(), (code, separators, lower) => {
        expect(readUserCode(showUserCode(code))).toBe(code);
        const typed = Array.from(code)
          .map((letter, i) => `${separators[i]}${letter}`)
          .join("");
        expect(readUserCode(lower ? typed.toLowerCase() : typed)).toBe(code);
      }),
    );
  });

  it("a text with vowels, digits or another length is not a user code", () => {
    for (const text of ["", "BCDFGHJ", "BCDFGHJKL", "ACDFGHJK", "BCDFGHJ1", "BCDF_GHJK"]) {
      expect(readUserCode(text)).toBeNull();
    }
    expect(readUserCode(`BCDFGHJK${" ".repeat(57)}`)).toBeNull();
    fc.assert(
      fc.property(fc.string(), (text) => {
        const code = readUserCode(text);
        expect(code === null || /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/.test(code)).toBe(true);
      }),
    );
  });

  it("each letter of a user code is equally likely", () => {
    const counts = new Map<string, number>();
    for (let byte = 0; byte < 256; byte += 1) {
      const letter = userCodeFrom(new Uint8Array(8).fill(byte))?.charAt(0);
      if (letter !== undefined) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    expect([...counts.keys()].toSorted().join("")).toBe(USER_CODE_ALPHABET);
    expect(new Set(counts.values())).toEqual(new Set([12]));
  });

  it("too few usable random bytes give no user code", () => {
    expect(userCodeFrom(new Uint8Array(7))).toBeNull();
    expect(userCodeFrom(new Uint8Array(16).fill(255))).toBeNull();
    expect(userCodeFrom(new Uint8Array([255, 0, 1, 2, 3, 4, 5, 6, 7]))).toBe("BCDFGHJK");
  });
});
