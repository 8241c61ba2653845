/** The style sheet and scripts of the pages, each with a version so that browsers may keep it. */
import account from "./style/account.css";
import shell from "./style/shell.css";
import statement from "./style/statement.css";
import passbook from "./passbook.css";
import live from "./scripts/live.browser.js";
import times from "./scripts/times.browser.js";

const FILES = {
  "passbook.css": passbook + shell + account + statement,
  "times.js": times,
  "live.js": live,
} as const;

export type PageFile = keyof typeof FILES;
/** Their names, which are their addresses too. */
export const PAGE_FILES = Object.keys(FILES) as readonly PageFile[];

export type PageScript = Extract<PageFile, `${string}.js`>;

export function isPageFile(name: string): name is PageFile {
  return Object.hasOwn(FILES, name);
}

export function contentOf(name: PageFile): string {
  return FILES[name];
}

const versions = new Map<PageFile, string>();

/** The file's version: another one for another content. */
export function versionOf(name: PageFile): string {
  const known = versions.get(name);
  if (known !== undefined) return known;
  const version = fingerprint(FILES[name]);
  versions.set(name, version);
  return version;
}

/** The file's address. */
export function addressOf(name: PageFile): string {
  return `/${name}?v=${versionOf(name)}`;
}

/** FNV-1a, 32 bits: for telling releases apart, not for security. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}
