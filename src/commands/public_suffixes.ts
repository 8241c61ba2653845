/**
 * `npm run suffixes`: writes `src/domain/hosting_suffixes.ts` anew, from the Public Suffix List that the
 * pinned `tldts` carries: its private section, the names under which anyone can get one of their own,
 * to three labels. Run it after moving `tldts` on. That is 10 KiB in the Worker (gzip), where `tldts`
 * would be 47 and the bare list 27; wildcards.ts holds settings to the whole list before they are used.
 */
import { writeFile } from "node:fs/promises";
import { hostingSuffixesModule } from "./public_suffix_list.ts";

await writeFile("src/domain/hosting_suffixes.ts", hostingSuffixesModule());
