/** Texts of operators that people read: nothing in them may be invisible or turn the text around. Pure. */

/**
 * Controls but the line feed, format characters (bidirectional controls such as U+202E, zero-width ones),
 * separators of lines and paragraphs, and letters that are blank: the Hangul fillers and the empty Braille cell.
 */
const INVISIBLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0\u2800]/u;

/** The first invisible character of a text, as `U+202E`; null where it has none. */
export function findInvisible(text: string): string | null {
  const [found] = INVISIBLE.exec(text) ?? [];
  if (found === undefined) return null;
  return `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
