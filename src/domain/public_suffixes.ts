/** Suffixes under which strangers register names. A wildcard over one of them would allow every stranger. */

/**
 * Second labels under which country registries sell names: `co.uk`, `com.au`. Passbook knows only these of the
 * list's ICANN section. The rest of that section, mostly places (`oslo.no`), is as large again; `npm run dev`
 * and the deployment check it before a setting is used.
 */
const REGISTRY_LABELS = new Set(["ac", "co", "com", "edu", "gov", "mil", "net", "org"]);

/** In the set below: a name and everything under it. */
const ALL_OF = "*";

/** Far fewer than the list has, and far more than a truncated copy would have. */
const HOSTING_SUFFIXES_MIN = 2_000;

/** The suffixes in `hosting_suffixes.txt`, and their parents. */
export type HostingSuffixes = ReadonlySet<string>;

/**
 * Reads `hosting_suffixes.txt`: the private section of the Public Suffix List (publicsuffix.org), written by
 * `npm run suffixes`. Each line has a top-level name, then the names under it. A name after a star also stands
 * for everything under it.
 * @throws Error if the text is not such a list.
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

/** A name and its parents that have a dot: a wildcard over `amazonaws.com` also covers `s3.amazonaws.com`. */
function withParents(name: string): string[] {
  const parent = name.slice(name.indexOf(".") + 1);
  return parent.includes(".") ? [name, ...withParents(parent)] : [name];
}

/** Whether a country registry sells names under `host` (lower case, two labels or more). */
export function isRegistrySuffix(host: string): boolean {
  const [label = "", top = "", ...more] = host.split(".");
  return more.length === 0 && top.length === 2 && REGISTRY_LABELS.has(label);
}

/** Whether strangers can register names under `host`: it is a suffix of the list, or a parent of one. */
export function isHostingSuffix(host: string, known: HostingSuffixes): boolean {
  return known.has(host) || withParents(host).some((name) => known.has(ALL_OF + name));
}
