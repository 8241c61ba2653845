/** Rules for text: ASCII case, invisible characters, hexadecimal digits. Pure. */

/**
 * Lower-cases A to Z only. `toLowerCase` also maps other letters to ASCII ones, such as the Kelvin sign to k.
 * Two different e-mail addresses would then be equal.
 */
export function lowerCaseAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/**
 * Control characters except the line feed, format characters (bidirectional ones such as U+202E, zero-width ones),
 * line and paragraph separators, and blank letters: the Hangul fillers and the empty Braille cell.
 */
const INVISIBLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0\u2800]/u;

/**
 * The first character of a text that is invisible or changes the direction of reading, such as `U+202E`, or
 * null. Operators' texts with such characters could mislead the people who read them.
 */
export function findInvisible(text: string): string | null {
  const [found] = INVISIBLE.exec(text) ?? [];
  if (found === undefined) return null;
  return `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Bytes as lower-case hexadecimal digits. */
export function toHexadecimal(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
