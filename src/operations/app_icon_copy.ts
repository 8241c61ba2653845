/** Copies an app's icon from the address that its operator registered. */
import {
  APP_ICON_MAX_BYTES,
  appIconType,
  type AppIconProblem,
  type AppIconType,
} from "../domain/app_icon.ts";
import { isPublicHttpsUrl } from "../domain/public_url.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { toHexadecimal } from "../domain/text.ts";

/** How long the icon's server may take, to the last byte. The operator waits for it. */
const APP_ICON_TIMEOUT_MS = 5_000;

interface AppIconCopy {
  /** The address that it was copied from. */
  readonly url: string;
  readonly hash: string;
  readonly media_type: AppIconType;
  readonly bytes: Uint8Array;
}

export type CopyAppIcon = (url: string) => Promise<Result<AppIconCopy, AppIconProblem>>;

/**
 * Reads the picture at an address that passes `isPublicHttpsUrl`. Redirects are not followed, since they could lead to an
 * address that does not pass. The request has no credentials, and the response's media type is ignored.
 */
export const copyAppIcon: CopyAppIcon = async (url) => {
  if (!isPublicHttpsUrl(url)) return refused("unreachable");
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), APP_ICON_TIMEOUT_MS);
  try {
    const headers = {
      Accept: "image/png,image/jpeg,image/webp,image/x-icon",
      "User-Agent": "passbook",
    };
    const response = await fetch(url, { headers, redirect: "manual", signal: limit.signal });
    if (response.status !== 200) {
      void response.body?.cancel().catch(() => undefined);
      return refused("status");
    }
    const bytes = await readLimited(response, limit.signal);
    if (bytes === null) return refused("too_large");
    const media_type = appIconType(bytes);
    if (media_type === null) return refused("not_a_picture");
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    return accepted({ url, hash: toHexadecimal(digest.slice(0, 16)), media_type, bytes });
  } catch {
    return refused(limit.signal.aborted ? "timeout" : "unreachable");
  } finally {
    clearTimeout(timer);
  }
};

/** The body; null if it is too large. @throws if the time is over, also if the body arrives byte by byte. */
async function readLimited(
  response: Response,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const bytes = new Uint8Array(APP_ICON_MAX_BYTES);
  let length = 0;
  const reader = response.body?.getReader();
  const out_of_time = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("took too long")));
  });
  for (;;) {
    const part = await Promise.race([reader?.read(), out_of_time]);
    if (part === undefined || part.done) return bytes.slice(0, length);
    if (length + part.value.byteLength > APP_ICON_MAX_BYTES) {
      void reader?.cancel().catch(() => undefined);
      return null;
    }
    bytes.set(part.value, length);
    length += part.value.byteLength;
  }
}
