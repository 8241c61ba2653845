/** The Public Suffix List of `tldts`, and the part of it that the Worker uses. */
import { domainToASCII } from "node:url";
import * as trie from "tldts/dist/es6/src/data/trie.js";

/** The file with that part. static_assets.ts copies it to the static files. */
export const HOSTING_SUFFIXES_FILE = new URL("../domain/hosting_suffixes.txt", import.meta.url);

/** The trie's mark for the private section of the list. */
const PRIVATE_SECTION = 2;

/**
 * Clouds that give customers names under many regions and products. All names under such a domain count as shared: the
 * regions themselves would be a tenth of the list.
 */
const CLOUDS = [
  "amazoncognito.com",
  "amazonaws.com",
  "azurestaticapps.net",
  "azurewebsites.net",
  "elasticbeanstalk.com",
  "on.aws",
  "sagemaker.aws",
];

/** Every name of the private section. A wildcard rule `*.a.b` counts as `a.b`. */
function privateSuffixes(): Set<string> {
  const offsets: number[] = [];
  let end = 0;
  for (const length of trie.edgeLength) {
    offsets.push(end);
    end += length;
  }
  const found = new Set<string>();
  const visit = (node: number, name: string): void => {
    if (trie.nodeFlags[node] === PRIVATE_SECTION) found.add(name.replace(/^\*\./, ""));
    for (let edge = trie.edgeStart[node] ?? 0; edge < (trie.edgeStart[node + 1] ?? 0); edge += 1) {
      const offset = offsets[edge] ?? 0;
      const label = trie.labelText.slice(offset, offset + (trie.edgeLength[edge] ?? 0));
      visit(trie.edgeChild[edge] ?? 0, name === "" ? label : `${label}.${name}`);
    }
  };
  visit(trie.rulesRoot, "");
  const shortened = [...found].map((name) => domainToASCII(name).split(".").slice(-3).join("."));
  const known = shortened.map((name) => {
    const cloud = CLOUDS.find((one) => name === one || name.endsWith(`.${one}`));
    return cloud === undefined ? name : `*${cloud}`;
  });
  // A single label is refused in any case, since nobody can own it.
  return new Set(known.filter((name) => name.includes(".")));
}

/** One line for each top-level name with the names under it, which compresses well. */
function grouped(names: ReadonlySet<string>): string {
  const groups = new Map<string, string[]>();
  const byLabel = (name: string): string => name.split(".").toReversed().join(".");
  for (const name of [...names].toSorted((a, b) => (byLabel(a) < byLabel(b) ? -1 : 1))) {
    const cut = name.lastIndexOf(".");
    const top = name.slice(cut + 1);
    groups.set(top, [...(groups.get(top) ?? []), name.slice(0, cut)]);
  }
  return [...groups].map(([top, rest]) => `${top} ${rest.join(" ")}`).join("\n");
}

/** The text of `hosting_suffixes.txt`. */
export function hostingSuffixes(): string {
  return `${grouped(privateSuffixes())}\n`;
}
