/**
 * `npm run package`: builds the package that apps install, with the client, the command line and the service for tests, and packs it to
 * `dist/passbook-client-<version>.tgz`. `--out DIR` uses another folder than `dist`. The folder is emptied first.
 */
import { execFileSync } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { PACKAGE_ENTRIES, PACKAGE_NAME } from "./package_entries.ts";
import { packWorker } from "./packed_worker.ts";

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
console.log(join(values.out, `${PACKAGE_NAME}-${root.version}.tgz`));

/**
 * The manual, the guides and the examples, with links that work in the installed package: text is left of a link to a file
 * that the package does not have.
 */
async function copyManual(to: string): Promise<void> {
  await cp("examples", join(to, "examples"), { recursive: true });
  const guides = (await readdir("docs")).filter((name) => name.endsWith(".md"));
  const pages = new Map([["README.md", "src/client/README.md"]]);
  for (const name of guides) pages.set(join("docs", name), join("docs", name));
  const places = new Map([...pages].map(([place, source]) => [source, place]));
  await mkdir(join(to, "docs"));
  for (const [place, source] of pages) {
    const linked = (await readFile(source, "utf8")).replaceAll(
      /\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g,
      (_, text: string, path: string, anchor = "") => {
        const target = join(dirname(source), path);
        const found = target.startsWith("examples/") ? target : places.get(target);
        return found === undefined
          ? text
          : `[${text}](${relative(dirname(place), found)}${anchor})`;
      },
    );
    await writeFile(join(to, place), linked);
  }
}

/** The manifest of the package, without the Worker's dependencies. */
function manifestOf({ version, description, license, devDependencies }: Manifest): object {
  const { commander = "", miniflare = "" } = devDependencies;
  return {
    name: PACKAGE_NAME,
    version,
    description: `${description} The client and the command line.`,
    license,
    type: "module",
    engines: { node: ">=20.11" },
    exports: {
      ...Object.fromEntries(
        Object.entries(PACKAGE_ENTRIES).map(([entry, file]) => [
          entry,
          { types: `./${file}.d.ts`, default: `./${file}.js` },
        ]),
      ),
      "./package.json": "./package.json",
    },
    // `npx --no passbook-client` runs the command of the package's own name.
    bin: { passbook: "cli/main.js", [PACKAGE_NAME]: "cli/main.js" },
    files: ["client", "cli", "docs", "domain", "examples", "worker", "README.md", "LICENSE"],
    sideEffects: false,
    dependencies: { commander },
    peerDependencies: { miniflare, react: ">=18" },
    peerDependenciesMeta: { miniflare: { optional: true }, react: { optional: true } },
    bundleDependencies: ["commander"],
  };
}
