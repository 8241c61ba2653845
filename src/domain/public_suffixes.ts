/** Names under which strangers get names of their own. A wildcard over one would let every stranger in. */
import { HOSTING_SUFFIXES } from "./hosting_suffixes.ts";

/**
 * Second labels that countries' registries sell under: `co.uk`, `com.au`. Only these of the list's other
 * section are known here; the rest of it, mostly places (`oslo.no`), is 17 KiB that `npm run dev` and a
 * deployment check before a setting is used.
 */
const REGISTRY_LABELS = new Set(["ac", "co", "com", "edu", "gov", "mil", "net", "org"]);

let hosting: ReadonlySet<string> | null = null;
/** What stands in that set for a name and everything under it. */
const ALL_OF = "*";

/** Read at the first wildcard, which most services never have. */
function hostingSuffixes(): ReadonlySet<string> {
  hosting ??= new Set(
    HOSTING_SUFFIXES.split("\n").flatMap((line) => {
      const [top = "", ...rest] = line.split(" ");
      return rest.flatMap((name) => withParents(`${name}.${top}`));
    }),
  );
  return hosting;
}

/** A name and those above it that still have a dot: a wildcard over `amazonaws.com` covers `s3.` too. */
function withParents(name: string): string[] {
  const parent = name.slice(name.indexOf(".") + 1);
  return parent.includes(".") ? [name, ...withParents(parent)] : [name];
}

/**
 * Whether strangers can get a name under `host` (lower case, of two labels or more): a public suffix
 * itself, or a parent of one.
 */
export function isOpenToStrangers(host: string): boolean {
  const [label = "", top = "", ...more] = host.split(".");
  if (more.length === 0 && top.length === 2 && REGISTRY_LABELS.has(label)) return true;
  const known = hostingSuffixes();
  return known.has(host) || withParents(host).some((name) => known.has(ALL_OF + name));
}
