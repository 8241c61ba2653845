/**
 * `npm run suffixes`: writes `src/domain/hosting_suffixes.txt` from the private section of the Public Suffix List:
 * suffixes under which anyone can register a name, shortened to three labels. Run it when you update `tldts`.
 */
import { writeFile } from "node:fs/promises";
import { HOSTING_SUFFIXES_FILE, hostingSuffixes } from "./public_suffix_list.ts";
import { readHostingSuffixes } from "../domain/public_suffixes.ts";

const LIST = "https://publicsuffix.org/list/public_suffix_list.dat";

const response = await fetch(LIST);
if (!response.ok) throw new Error(`${LIST} responded with ${response.status}`);
const suffixes = hostingSuffixes(await response.text());
// Refuses a list that is cut short.
readHostingSuffixes(suffixes);
await writeFile(HOSTING_SUFFIXES_FILE, suffixes);
