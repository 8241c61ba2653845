/** Rules for the icons of apps: their size, and the kinds of pictures that are shown. Pure. */

/** The largest icon, in bytes: 16 times what a sharp icon of 44 px needs. */
export const APP_ICON_MAX_BYTES = 64 * 1024;

/** Pictures that cannot contain scripts. SVG can, so it is not among them. */
export const APP_ICON_TYPES = ["image/png", "image/jpeg", "image/webp", "image/x-icon"] as const;
export type AppIconType = (typeof APP_ICON_TYPES)[number];

/** Our address of an icon, from the hash of its bytes. */
export const appIconPath = (hash: string): string => `/app-icons/${hash}`;

/** The kind of a picture by its first bytes, whatever its server says; null: not a picture that is shown. */
export function appIconType(bytes: Uint8Array): AppIconType | null {
  const starts = (start: readonly number[], at = 0): boolean =>
    bytes.length > at + start.length && start.every((byte, index) => bytes[at + index] === byte);
  if (starts([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (starts([0xff, 0xd8, 0xff])) return "image/jpeg";
  const is_webp = starts([0x52, 0x49, 0x46, 0x46]) && starts([0x57, 0x45, 0x42, 0x50], 8);
  if (is_webp) return "image/webp";
  return starts([0, 0, 1, 0]) ? "image/x-icon" : null;
}

/** Why an icon could not be copied. */
export type AppIconProblem = "unreachable" | "timeout" | "status" | "too_large" | "not_a_picture";
