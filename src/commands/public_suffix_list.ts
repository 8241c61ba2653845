/** The part of the Public Suffix List that the Worker uses. */
import { domainToASCII } from "node:url";

/** The file with that part. static_assets.ts copies it to the static files. */
export const HOSTING_SUFFIXES_FILE = new URL("../domain/hosting_suffixes.txt", import.meta.url);

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

/** Every name of the list's private section. A wildcard rule `*.a.b` counts as `a.b`. */
function privateSuffixes(list: string): Set<string> {
  const [, section = ""] =
    /===BEGIN PRIVATE DOMAINS===([^]*)===END PRIVATE DOMAINS===/.exec(list) ?? [];
  const found = section
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("//") && !line.startsWith("!"))
    .map((name) => name.replace(/^\*\./, ""));
  const shortened = found.map((name) => domainToASCII(name).split(".").slice(-3).join("."));
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

/** The text of `hosting_suffixes.txt`. `list`: the whole list, as publicsuffix.org has it. */
export function hostingSuffixes(list: string): string {
  return `${grouped(privateSuffixes(list))}\n`;
}
