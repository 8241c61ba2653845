/**
 * `npm run size`: measures the deployed bundle, and compares the cold start of the Worker with that of a bare Hono Worker.
 * Both are bundled in the same way and started in turn, each time in a new runtime. The processor time of a start is that
 * of the whole runtime from its launch to its first response, so other programs on the machine hardly change it. Fails if
 * the bundle or the start exceeds its limit. `--bundle-only` measures no starts; only Linux can measure them.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundle, isModule, modulesOf, sizeOf } from "./bundle.ts";
import { developmentSettings } from "./development_settings.ts";
import { exitCode, freePort } from "./local_worker.ts";

const RUNS = 15;

/** What a deployment may weigh, in KiB. A new capability may raise it. */
const BUNDLE_MAX_GZIP_KIB = 283;

/**
 * The most processor time that a start may take, in starts of a bare Hono Worker. It takes 4.2 of them; a language table of
 * `Intl` would add 0.4. The goal is 3.3.
 */
const START_MAX_RATIO = 4.5;

const BARE_WORKER = `import { Hono } from "hono";
const app = new Hono();
app.get("/", (context) => context.json({ ok: true }));
export default app;
`;

/** A bundle to start, its settings, and a path that reads no store. */
interface Subject {
  readonly name: string;
  readonly directory: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Bindings that must exist, and are not used by the request. */
  readonly unused_bindings: readonly string[];
  /** More lines of the runtime's configuration. */
  readonly more: string;
  readonly path: string;
}

async function compatibilityDate(): Promise<string> {
  const settings = await readFile("wrangler.toml", "utf8");
  const date = /^compatibility_date = "([\d-]+)"$/m.exec(settings)?.[1];
  if (date === undefined) throw new Error("wrangler.toml has no compatibility_date");
  return date;
}

/** The configuration of workerd. Settings come from its environment. */
async function runtimeConfig(subject: Subject, port: number): Promise<string> {
  const modules = (await modulesOf(subject.directory)).map(
    (name) => `(name = "${name}", ${isModule(name) ? "esModule" : "text"} = embed "${name}")`,
  );
  const bindings = [
    ...Object.keys(subject.settings).map(
      (name) => `(name = "${name}", fromEnvironment = "${name}")`,
    ),
    ...subject.unused_bindings.map((name) => `(name = "${name}", service = "main")`),
  ];
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [${modules.join(", ")}],
  compatibilityDate = "${await compatibilityDate()}",
  bindings = [${bindings.join(", ")}],
  ${subject.more}
);
`;
}

/** The processor time of a runtime from its launch to its first response, in milliseconds. */
async function coldStart(subject: Subject): Promise<number> {
  const port = await freePort();
  const config = join(subject.directory, "start.capnp");
  await writeFile(config, await runtimeConfig(subject, port));
  const runtime = spawn("workerd", ["serve", config], {
    env: { ...process.env, ...subject.settings },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  runtime.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  try {
    await firstResponse(`http://127.0.0.1:${port}${subject.path}`, runtime);
    return await processorMs(runtime.pid ?? 0);
  } catch (error) {
    throw new Error(`${subject.name} did not start: ${output}`, { cause: error });
  } finally {
    const ended = runtime.exitCode === null ? exitCode(runtime) : null;
    runtime.kill();
    await ended;
  }
}

/** What all threads of a process have used so far. Linux counts it in nanoseconds, as the first number. */
async function processorMs(pid: number): Promise<number> {
  const threads = `/proc/${pid}/task`;
  const used_ms = (await readdir(threads)).map(async (thread) => {
    const [nanoseconds] = (await readFile(join(threads, thread, "schedstat"), "utf8")).split(" ");
    return Number(nanoseconds) / 1e6;
  });
  return (await Promise.all(used_ms)).reduce((sum, ms) => sum + ms, 0);
}

async function firstResponse(url: string, runtime: ChildProcess): Promise<void> {
  while (runtime.exitCode === null) {
    const status = await statusOf(url);
    if (status === 200) return;
    if (status !== null) throw new Error(`it responded with ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 0.5));
  }
  throw new Error("it ended");
}

/** The status of a response; null while no server listens. */
function statusOf(url: string): Promise<number | null> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    request.on("error", () => resolve(null));
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

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

/** Bundles both Workers in `directory`, which must be in the project so that Hono resolves. */
async function subjects(directory: string): Promise<readonly [Subject, Subject]> {
  const source = join(directory, "source");
  await mkdir(source);
  await writeFile(join(source, "bare.ts"), BARE_WORKER);
  const date = await compatibilityDate();
  await writeFile(
    join(source, "wrangler.toml"),
    `name = "bare"\nmain = "bare.ts"\ncompatibility_date = "${date}"\n`,
  );
  const bare = join(directory, "bare");
  const passbook = join(directory, "passbook");
  await bundle([`--config=${join(source, "wrangler.toml")}`], bare);
  const objects = `durableObjectNamespaces = [(className = "Account", uniqueKey = "account", enableSql = true)],
  durableObjectStorage = (inMemory = void),`;
  return [
    { name: "bare Hono", directory: bare, settings: {}, unused_bindings: [], more: "", path: "/" },
    {
      name: "Passbook",
      directory: passbook,
      settings: await settings(),
      unused_bindings: ["DIRECTORY"],
      more: objects,
      path: "/.well-known/jwks.json",
    },
  ];
}

/** Compares the start with its limit. @returns whether it fits */
async function measure(directory: string, runs: number): Promise<boolean> {
  const both = await subjects(directory);
  const starts_ms = new Map<Subject, number[]>(both.map((subject) => [subject, []]));
  // The first run only warms the disk cache.
  for (let run = 0; run <= runs; run += 1) {
    for (const subject of both) {
      const start_ms = await coldStart(subject);
      if (run > 0) starts_ms.get(subject)?.push(start_ms);
    }
  }
  for (const subject of both) {
    const { raw_kib, gzip_kib } = await sizeOf(subject.directory);
    const start_ms = median(starts_ms.get(subject) ?? []);
    console.log(
      `${subject.name.padEnd(10)} ${raw_kib.toFixed(1).padStart(7)} KiB minified ` +
        `${gzip_kib.toFixed(1).padStart(6)} KiB gzip ${start_ms.toFixed(1).padStart(6)} ms of processor time to the first response`,
    );
  }
  const [bare_ms = 0, passbook_ms = 0] = both.map((it) => median(starts_ms.get(it) ?? []));
  const ratio = passbook_ms / bare_ms;
  const fits = ratio <= START_MAX_RATIO;
  console.log(
    `Start: ${ratio.toFixed(2)} times a bare Hono Worker's processor time, ${fits ? "within" : "OVER"} the limit of ` +
      `${START_MAX_RATIO} (${(passbook_ms - bare_ms).toFixed(1)} ms more; medians of ${runs} cold starts each).`,
  );
  return fits;
}

/** Compares the bundle with its limit. @returns whether it fits */
async function checkLimit(directory: string): Promise<boolean> {
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
  if (!(await checkLimit(directory))) process.exitCode = 1;
  if (!values["bundle-only"] && !(await measure(directory, Number(values.runs)))) {
    process.exitCode = 1;
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
