/** The languages of the pages for people. */

export const LANGUAGE_TAGS = ["en", "de"] as const;
export type Language = (typeof LANGUAGE_TAGS)[number];

/** Each language with its own name, the locale of its numbers and times, and its sign before decimals. */
export const LANGUAGES = {
  en: { name: "English", locale: "en-GB", decimal_sign: "." },
  de: { name: "Deutsch", locale: "de-DE", decimal_sign: "," },
} as const satisfies Record<Language, object>;

export function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(LANGUAGES, tag);
}

/**
 * The language that a browser prefers (RFC 9110, section 12.5.4): the accepted one with the highest weight, the first of
 * equals. A region does not matter: `de-AT` is German. English for a person who reads none of ours.
 *
 * @example acceptedLanguage("de-AT, en;q=0.8") // "de"
 */
export function acceptedLanguage(header: string): Language {
  const accepted = header.split(",").flatMap((part) => {
    const [range = "", ...parameters] = part.split(";").map((it) => it.trim().toLowerCase());
    const tag = range.split("-", 1)[0] ?? "";
    const weight = Number(parameters.find((it) => it.startsWith("q="))?.slice(2) ?? 1);
    return isLanguage(tag) && weight > 0 ? [{ tag, weight }] : [];
  });
  return accepted.toSorted((one, other) => other.weight - one.weight)[0]?.tag ?? "en";
}
