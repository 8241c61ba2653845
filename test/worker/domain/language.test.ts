import { expect, it } from "vitest";
import { acceptedLanguage } from "../../../src/domain/language.ts";

it.each([
  ["", "en"],
  ["fr", "en"],
  ["de", "de"],
  ["de-AT", "de"],
  ["DE-ch", "de"],
  ["fr, de;q=0.5, en;q=0.1", "de"],
  ["en;q=0.8, de;q=0.9", "de"],
  ["en, de", "en"],
  ["de, en", "de"],
  ["de;q=0, en;q=0", "en"],
  ["de;q=0", "en"],
  ["de;q=1, en;q=0.5", "de"],
  ["de;q=1, en", "de"],
  ["de; Q=0.1 , en ; q=0.2", "en"],
  ["*", "en"],
  ["den, dex", "en"],
  ["__proto__, constructor", "en"],
  ["de;q=x", "en"],
] as const)("a browser that accepts %j reads %s", (header, language) => {
  expect(acceptedLanguage(header)).toBe(language);
});
