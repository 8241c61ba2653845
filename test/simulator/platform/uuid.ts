/** The module `uuid`: times and random bits of the simulation. It keeps no state, unlike the library, so runs are alike. */
import { uuidText } from "./random.ts";

export function v7({ msecs = Date.now() }: { readonly msecs?: number } = {}): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  for (let at = 0; at < 6; at += 1) bytes[at] = Math.floor(msecs / 2 ** (40 - 8 * at)) % 256;
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return uuidText(bytes);
}
