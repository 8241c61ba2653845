/** Bytes as lower-case hexadecimal digits. Pure. */
export function toHexadecimal(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
