/**
 * `npm run suffixes`: writes `src/domain/hosting_suffixes.txt` from the private section of the Public Suffix List in
 * `tldts`: suffixes under which anyone can register a name, shortened to three labels. Run it after an update of `tldts`.
 */
import { writeFile } from "node:fs/promises";
import { HOSTING_SUFFIXES_FILE, hostingSuffixes } from "./public_suffix_list.ts";

await writeFile(HOSTING_SUFFIXES_FILE, hostingSuffixes());
