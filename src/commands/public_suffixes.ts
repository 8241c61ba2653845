/**
 * `npm run suffixes`: writes `src/domain/hosting_suffixes.txt` anew, from the Public Suffix List that the
 * pinned `tldts` carries: its private section, the names under which anyone can get one of their own,
 * to three labels. Run it after moving `tldts` on. wildcards.ts holds settings to the whole list before
 * they are used.
 */
import { writeFile } from "node:fs/promises";
import { HOSTING_SUFFIXES_FILE, hostingSuffixes } from "./public_suffix_list.ts";

await writeFile(HOSTING_SUFFIXES_FILE, hostingSuffixes());
