/**
 * `npm run size`: measures the deployed bundle, and compares the cold start of the Worker with that of a bare Hono Worker.
 * Both are bundled in the same way and started in turn, each time in a new runtime. The processor time of a start is that
 * of the whole runtime from its launch to its first response, so other programs on the machine hardly change it. Fails if
 * the bundle or the start exceeds its limit. `--bundle-only` measures no starts; only Linux can measure them.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundle, sizeOf } from "./bundle.ts";
import { developmentSettings } from "./development_settings.ts";
import { measureStart, type Start } from "./start_time.ts";
import { readWorkerConfig } from "./wrangler_config.ts";

const RUNS = 21;

/** The most that a deployment may weigh, in KiB. Only a commit that names a new capability and its price may raise it. */
const BUNDLE_MAX_GZIP_KIB = 408.3;

/** The most processor time that a start may take, in starts of a bare Hono Worker. */
const START_MAX_RATIO = 3.3;

const BARE_WORKER = `import { Hono } from "hono";
const app = new Hono();
app.get("/", (context) => context.json({ ok: true }));
export default app;
`;

/** The settings that `npm run dev` creates, without their quotes. */
async function settings(): Promise<Record<string, string>> {
  const lines = (await developmentSettings()).split("\n");
  return Object.fromEntries(
    lines.flatMap((line): [string, string][] => {
      const [, name, value] = /^([A-Z_]+)='?(.*?)'?$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Bundles a bare Worker in `directory`, which must be in the project so that Hono resolves. */
async function bareStart(directory: string): Promise<Start> {
  const source = join(directory, "source");
  await mkdir(source);
  await writeFile(join(source, "bare.ts"), BARE_WORKER);
  const date = readWorkerConfig().compatibility_date;
  const config = join(source, "wrangler.toml");
  await writeFile(config, `name = "bare"\nmain = "bare.ts"\ncompatibility_date = "${date}"\n`);
  const bare = join(directory, "bare");
  await bundle([`--config=${config}`], bare);
  return { bundle: bare, has_stores: false, settings: {}, path: "/", status: 200 };
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Compares the start with its limit. @returns whether it fits */
async function checkStart(directory: string, runs: number): Promise<boolean> {
  const own = { bundle: join(directory, "passbook"), has_stores: true, settings: await settings() };
  // Without credentials: the response needs no store.
  const starts = [await bareStart(directory), { ...own, path: "/api/wallet", status: 401 }];
  const times_ms = starts.map((): number[] => []);
  // The first run only warms the disk cache.
  for (let run = 0; run <= runs; run += 1) {
    for (const [index, start] of starts.entries()) {
      const start_ms = await measureStart(start);
      if (run > 0) times_ms[index]?.push(start_ms);
    }
  }
  const [bare_ms = 0, passbook_ms = 0] = times_ms.map(median);
  const ratio = passbook_ms / bare_ms;
  const fits = ratio <= START_MAX_RATIO;
  console.log(
    `Start: ${ratio.toFixed(2)} times a bare Hono Worker's processor time, ${fits ? "within" : "OVER"} the limit of ` +
      `${START_MAX_RATIO} (${passbook_ms.toFixed(0)} and ${bare_ms.toFixed(0)} ms to the first response; medians of ${runs} cold starts each).`,
  );
  return fits;
}

/** Compares the bundle with its limit. @returns whether it fits */
async function checkBundle(directory: string): Promise<boolean> {
  const passbook = join(directory, "passbook");
  await bundle([], passbook);
  const { gzip_kib } = await sizeOf(passbook);
  const fits = gzip_kib <= BUNDLE_MAX_GZIP_KIB;
  const verdict = fits ? "within" : "OVER";
  console.log(
    `Bundle: ${gzip_kib.toFixed(1)} KiB gzip, ${verdict} the limit of ${BUNDLE_MAX_GZIP_KIB} KiB.`,
  );
  return fits;
}

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: String(RUNS) },
    "bundle-only": { type: "boolean", default: false },
  },
});
await mkdir(".wrangler", { recursive: true });
const directory = await mkdtemp(resolve(".wrangler", "size-"));
try {
  if (!(await checkBundle(directory))) process.exitCode = 1;
  if (!values["bundle-only"] && !(await checkStart(directory, Number(values.runs)))) {
    process.exitCode = 1;
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
