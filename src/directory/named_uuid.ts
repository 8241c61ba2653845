/** UUIDs that come of a name (RFC 9562, section 5.5), by the platform's own SHA-1: a package would bring one along. */

/** The UUID of version 5 of a name in a namespace. */
export async function namedUuid(namespace: string, name: string): Promise<string> {
  const scope = Uint8Array.from(namespace.replaceAll("-", "").match(/../g) ?? [], (hex) =>
    Number.parseInt(hex, 16),
  );
  const named = new Uint8Array([...scope, ...new TextEncoder().encode(name)]);
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-1", named)).slice(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
