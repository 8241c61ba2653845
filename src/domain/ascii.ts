/** Text compared ignoring the case of ASCII letters. Pure. */

/**
 * Lower-cases A to Z only. `toLowerCase` makes other letters equal to ASCII ones: the Kelvin sign becomes a k,
 * and the address of one person that of another.
 */
export function lowerCaseAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
