/** Names under which strangers get names of their own. A wildcard over one would let every stranger in. */

/**
 * Second labels that countries' registries sell under: `co.uk`, `com.au`. Only these of the list's other
 * section are known here; the rest of it, mostly places (`oslo.no`), is as large again, and `npm run dev`
 * and a deployment check it before a setting is used.
 */
const REGISTRY_LABELS = new Set(["ac", "co", "com", "edu", "gov", "mil", "net", "org"]);

/** What stands in the set below for a name and everything under it. */
const ALL_OF = "*";

/** Far below what the list has, and far above what is left of one cut short. */
const HOSTING_SUFFIXES_MIN = 2_000;

/** What `hosting_suffixes.txt` lists, and what lies above it. */
export type HostingSuffixes = ReadonlySet<string>;

/**
 * Reads `hosting_suffixes.txt`: the private section of the Public Suffix List (publicsuffix.org), made by
 * `npm run suffixes`. Each line is a top-level name, then what lies under it; a name behind a star stands
 * for all that lies under it too.
 * @throws Error where the text is no such list.
 */
export function readHostingSuffixes(list: string): HostingSuffixes {
  const suffixes = new Set(
    list.split("\n").flatMap((line) => {
      const [top = "", ...rest] = line.split(" ");
      return rest.flatMap((name) => withParents(`${name}.${top}`));
    }),
  );
  if (suffixes.size < HOSTING_SUFFIXES_MIN) throw new Error("the list of suffixes is cut short");
  return suffixes;
}

/** A name and those above it that still have a dot: a wildcard over `amazonaws.com` covers `s3.` too. */
function withParents(name: string): string[] {
  const parent = name.slice(name.indexOf(".") + 1);
  return parent.includes(".") ? [name, ...withParents(parent)] : [name];
}

/** Whether a country's registry sells names under `host` (lower case, of two labels or more). */
export function isRegistrySuffix(host: string): boolean {
  const [label = "", top = "", ...more] = host.split(".");
  return more.length === 0 && top.length === 2 && REGISTRY_LABELS.has(label);
}

/** Whether a host gives strangers names under `host`: a suffix of the list itself, or a parent of one. */
export function isHostingSuffix(host: string, known: HostingSuffixes): boolean {
  return known.has(host) || withParents(host).some((name) => known.has(ALL_OF + name));
}
