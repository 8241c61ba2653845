/** The stored bytes of a segment: its text with gzip, and their SHA-256. */

import { toHexadecimal } from "../domain/text.ts";

/** Compresses a text. */
export async function gzip(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The text of compressed bytes. @throws if they are not gzip. */
export async function gunzip(bytes: Uint8Array): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** The SHA-256 of bytes, in hexadecimal. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  return toHexadecimal(await crypto.subtle.digest("SHA-256", bytes));
}
