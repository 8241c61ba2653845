/**
 * Loads `src` in Node: puts doubles in the place of two modules, and loads SQL and JSON as the bundle does. A fault of
 * `test/faults` replaces text while Node loads the file, so that no file on the disk changes.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** A change of one file of `src`. */
export interface Replacement {
  /** From the root of the repository. */
  readonly file: string;
  /** It is in the file once. */
  readonly from: string;
  readonly to: string;
}

const ROOT = new URL("../../../", import.meta.url);
const DOUBLES: Readonly<Record<string, string>> = {
  "cloudflare:workers": new URL("workers.ts", import.meta.url).href,
  uuid: new URL("uuid.ts", import.meta.url).href,
};

/** Call it before anything of `src` is imported. @throws if a replacement does not fit its file. */
export function loadSource(replacements: readonly Replacement[]): void {
  const changed = new Map<string, string>();
  for (const { file, from, to } of replacements) {
    const url = new URL(file, ROOT).href;
    const text = changed.get(url) ?? readFileSync(fileURLToPath(url), "utf8");
    if (text.split(from).length !== 2) throw new Error(`${file} must have this once:\n${from}`);
    changed.set(
      url,
      text.replace(from, () => to),
    );
  }
  registerHooks({
    resolve(specifier, context, next) {
      const double = DOUBLES[specifier];
      return double === undefined
        ? next(specifier, context)
        : { url: double, format: "module-typescript", shortCircuit: true };
    },
    load(url, context, next) {
      if (/\.(sql|json)$/.test(url) && url.includes("/drizzle/")) {
        const text = readFileSync(fileURLToPath(url), "utf8");
        const value = url.endsWith(".sql") ? JSON.stringify(text) : text;
        return { format: "module", source: `export default ${value};`, shortCircuit: true };
      }
      const source = changed.get(url);
      return source === undefined
        ? next(url, context)
        : { format: "module-typescript", source, shortCircuit: true };
    },
  });
}
