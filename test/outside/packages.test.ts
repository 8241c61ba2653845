import { globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };

/** Static and dynamic imports whose specifier is not a path. */
const BARE_IMPORT =
  /(?:^(?:import|export)(?:[^;"']*?\bfrom)?\s*|\bimport\()["']([^"'./][^"']*)["']/gm;

/**
 * Modules that do not come from npm: those of the platform, the package that `npm run package` builds, and the bundle
 * that the benchmark puts in place of `__BUILT__`.
 */
const NOT_FROM_NPM =
  /^(?:cloudflare:.*|passbook-client(?:\/(?:admin|oauth|package\.json|react|resource|server|testing))?|__BUILT__)$/;

function packageOf(specifier: string): string {
  const [scope = "", name = ""] = specifier.split("/");
  return specifier.startsWith("@") ? `${scope}/${name}` : scope;
}

it("every package that a source file, a test or a config imports is declared in package.json", () => {
  const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }));
  const files = [
    ...globSync("{src,test,drizzle,examples}/**/*.{ts,tsx,js,mjs}"),
    ...globSync("*.{ts,js,mjs}"),
  ];
  const imports = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(BARE_IMPORT)].map(([, name = ""]) => ({ file, name })),
  );
  const undeclared = imports
    .filter(({ name }) => !NOT_FROM_NPM.test(name) && !isBuiltin(name))
    .filter(({ name }) => !declared.has(packageOf(name)))
    .map(({ file, name }) => `${file} imports ${name}`);
  expect(undeclared).toEqual([]);
  expect(imports.length).toBeGreaterThan(200);
});
