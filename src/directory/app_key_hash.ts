import { toHexadecimal } from "../domain/hexadecimal.ts";

/** What is kept of an app's key: its SHA-256 in hexadecimal. */
export async function hashAppKey(key: string): Promise<string> {
  return toHexadecimal(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key)));
}
