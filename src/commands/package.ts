/**
 * `npm run package`: builds the package that apps install, with the client, the command line and the service for tests, and packs it to
 * `dist/passbook-client-<version>.tgz`. `--out DIR` uses another folder than `dist`. The folder is emptied first.
 */
import { execFileSync } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packWorker } from "./packed_worker.ts";

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
await packWorker(join(folder, "worker"), root.devDependencies["miniflare"] ?? "");
await copyManual(folder);
await cp("LICENSE", join(folder, "LICENSE"));
// Bundled, so that installing the tarball downloads nothing.
await cp("node_modules/commander", join(folder, "node_modules/commander"), { recursive: true });
execFileSync("npm", ["pack", "--silent", "--pack-destination", ".."], {
  cwd: folder,
  stdio: ["ignore", "ignore", "inherit"],
});
console.log(join(values.out, `${NAME}-${root.version}.tgz`));

/** The manual and the guides that it links to, with links that work in the installed package. */
async function copyManual(to: string): Promise<void> {
  const manual = await readFile("src/client/README.md", "utf8");
  await writeFile(join(to, "README.md"), manual.replaceAll("](../../docs/", "](docs/"));
  await mkdir(join(to, "docs"));
  for (const page of await readdir("docs")) {
    if (!page.endsWith(".md")) continue;
    const text = await readFile(join("docs", page), "utf8");
    const linked = text.replaceAll("](../src/client/README.md", "](../README.md");
    await writeFile(join(to, "docs", page), linked);
  }
}

/** The manifest of the package, without the Worker's dependencies. */
function manifestOf({ version, description, license, devDependencies }: Manifest): object {
  const { commander = "", miniflare = "" } = devDependencies;
  return {
    name: NAME,
    version,
    description: `${description} The client and the command line.`,
    license,
    type: "module",
    engines: { node: ">=20.11" },
    exports: {
      ".": { types: "./client/index.d.ts", default: "./client/index.js" },
      "./server": { types: "./client/server.d.ts", default: "./client/server.js" },
      "./admin": { types: "./client/admin/index.d.ts", default: "./client/admin/index.js" },
      "./oauth": { types: "./client/oauth/index.d.ts", default: "./client/oauth/index.js" },
      "./resource": {
        types: "./client/resource/index.d.ts",
        default: "./client/resource/index.js",
      },
      "./react": { types: "./client/react/index.d.ts", default: "./client/react/index.js" },
      "./testing": { types: "./client/testing/index.d.ts", default: "./client/testing/index.js" },
      "./package.json": "./package.json",
    },
    // `npx --no passbook-client` runs the command of the package's own name.
    bin: { passbook: "cli/main.js", [NAME]: "cli/main.js" },
    files: ["client", "cli", "docs", "domain", "worker", "README.md", "LICENSE"],
    sideEffects: false,
    dependencies: { commander },
    peerDependencies: { miniflare, react: ">=18" },
    peerDependenciesMeta: { miniflare: { optional: true }, react: { optional: true } },
    bundleDependencies: ["commander"],
  };
}
