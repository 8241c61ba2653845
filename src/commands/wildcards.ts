/** `ALLOWED_ORIGINS` held to the whole Public Suffix List, of which the Worker carries a part. */
import { getPublicSuffix } from "tldts";
import { isOpenToStrangers } from "../domain/public_suffixes.ts";

/** The wildcards of an `ALLOWED_ORIGINS` under which strangers can get a name, as they are written. */
export function wildcardsOpenToStrangers(allowed_origins: string): string[] {
  return allowed_origins
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => {
      const host = /^https:\/\/\*\.([^/:]+)$/.exec(entry)?.[1]?.toLowerCase();
      if (host === undefined) return false;
      return (
        getPublicSuffix(host, { allowPrivateDomains: true }) === host || isOpenToStrangers(host)
      );
    });
}
