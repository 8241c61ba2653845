/**
 * `npm run package`: builds the package that apps install, with the client and the command line, and packs it to
 * `dist/passbook-client-<version>.tgz`. `--out DIR` uses another folder than `dist`. The folder is emptied first.
 */
import { execFileSync } from "node:child_process";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";

/** The name `passbook` on the public registry belongs to somebody else. */
const NAME = "passbook-client";
interface Manifest {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const { values } = parseArgs({ options: { out: { type: "string", default: "dist" } } });
const folder = join(values.out, "package");
const root = JSON.parse(await readFile("package.json", "utf8")) as Manifest;

await rm(values.out, { recursive: true, force: true });
execFileSync("tsc", ["-p", "tsconfig.package.json", "--outDir", folder], { stdio: "inherit" });
await writeFile(join(folder, "package.json"), `${JSON.stringify(manifestOf(root), null, 2)}\n`);
await cp("src/client/README.md", join(folder, "README.md"));
await cp("LICENSE", join(folder, "LICENSE"));
// Bundled, so that installing the tarball downloads nothing.
await cp("node_modules/commander", join(folder, "node_modules/commander"), { recursive: true });
execFileSync("npm", ["pack", "--silent", "--pack-destination", ".."], {
  cwd: folder,
  stdio: ["ignore", "ignore", "inherit"],
});
console.log(join(values.out, `${NAME}-${root.version}.tgz`));

/** The manifest of the package, without the Worker's dependencies. */
function manifestOf({ version, description, license, devDependencies }: Manifest): object {
  const { commander = "" } = devDependencies;
  return {
    name: NAME,
    version,
    description: `${description} The client and the command line.`,
    license,
    type: "module",
    engines: { node: ">=20.11" },
    exports: {
      ".": { types: "./client/index.d.ts", default: "./client/index.js" },
      "./admin": { types: "./client/admin/index.d.ts", default: "./client/admin/index.js" },
      "./oauth": { types: "./client/oauth/index.d.ts", default: "./client/oauth/index.js" },
      "./resource": {
        types: "./client/resource/index.d.ts",
        default: "./client/resource/index.js",
      },
      "./react": { types: "./client/react/index.d.ts", default: "./client/react/index.js" },
    },
    bin: { passbook: "cli/main.js" },
    files: ["client", "cli", "domain", "README.md", "LICENSE"],
    sideEffects: false,
    dependencies: { commander },
    peerDependencies: { react: ">=18" },
    peerDependenciesMeta: { react: { optional: true } },
    bundleDependencies: ["commander"],
      "./server": { types: "./client/server.d.ts", default: "./client/server.js" },
  };
}
