/** Checks the wildcards of `ALLOWED_ORIGINS` against the whole Public Suffix List; the Worker has only a part of it. */
import { readFileSync } from "node:fs";
import { getPublicSuffix } from "tldts";
import {
  isHostingSuffix,
  isRegistrySuffix,
  readHostingSuffixes,
} from "../domain/public_suffixes.ts";
import { HOSTING_SUFFIXES_FILE } from "./public_suffix_list.ts";

/** The wildcards of `ALLOWED_ORIGINS` under which anyone can register a name. */
export function wildcardsOpenToStrangers(allowed_origins: string): string[] {
  const known = readHostingSuffixes(readFileSync(HOSTING_SUFFIXES_FILE, "utf8"));
  return allowed_origins
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => {
      const host = /^https:\/\/\*\.([^/:]+)$/.exec(entry)?.[1]?.toLowerCase();
      if (host === undefined) return false;
      return (
        getPublicSuffix(host, { allowPrivateDomains: true }) === host ||
        isRegistrySuffix(host) ||
        isHostingSuffix(host, known)
      );
    });
}
