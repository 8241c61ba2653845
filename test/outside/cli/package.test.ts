import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exitCode, freePort, startWrangler } from "../../../src/commands/local_worker.ts";
import { launchBrowser } from "../support/chromium.ts";
import { blocksOf } from "../support/guide.ts";
import { installPackage, type Installed } from "../support/installed.ts";

const run = promisify(execFile);

let installed: Installed;

beforeAll(async () => {
  installed = await installPackage();
});

afterAll(async () => {
  await installed?.remove();
});

/** A program of an app: it makes a client and gets its first refusal. */
const PROGRAM = `
import { createClient, isPassbookError } from "passbook-client";
export async function tryIt() {
  const passbook = createClient({ baseUrl: "https://passbook.example.com" });
  const error = await passbook.wallet().catch((error) => error);
  return isPassbookError(error, "no_credentials") ? "it works" : String(error);
}
`;

/** The response of a server that is starting. */
async function responseOf(url: string): Promise<string> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const response = await fetch(url).catch(() => null);
    if (response !== null) return response.text();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return "no response";
}

/** The chunks of a program: those of a page, or one library with everything. */
async function chunksOf(entry: string, program: string, kind: "page" | "library") {
  const source = join(installed.folder, "entry.js");
  await writeFile(source, `${program}\n${entry}`);
  const built = await build({
    root: installed.folder,
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      minify: true,
      modulePreload: false,
      ...(kind === "page"
        ? { rolldownOptions: { input: source } }
        : {
            lib: { entry: source, formats: ["es" as const], fileName: "out" },
            rolldownOptions: { output: { codeSplitting: false } },
          }),
    },
  });
  const [output] = [built].flat();
  const files = output !== undefined && "output" in output ? output.output : [];
  return files.flatMap((file) => (file.type === "chunk" ? [file] : []));
}

async function bundle(entry: string, program = PROGRAM): Promise<string> {
  const [chunk] = await chunksOf(entry, program, "library");
  return chunk?.code ?? "";
}

describe("the package", () => {
  it("the package has only the client, the command line and the service for tests, and is small", async () => {
    const files = globSync("node_modules/**/*", { cwd: installed.folder });
    const bytes = files
      .map((file) => statSync(join(installed.folder, file)))
      .reduce((total, stat) => total + (stat.isFile() ? stat.size : 0), 0);
    // Without the service, a quarter of it.
    expect(bytes).toBeLessThan(6_100_000);
    const manifest = join(installed.folder, "node_modules/passbook-client/package.json");
    const { dependencies, license } = JSON.parse(await readFile(manifest, "utf8"));
    expect(Object.keys(dependencies)).toEqual(["commander"]);
    expect(license).toBe("MIT");
    const terms = join(installed.folder, "node_modules/passbook-client/LICENSE");
    expect(await readFile(terms, "utf8")).toBe(await readFile("LICENSE", "utf8"));
  });

  it("the package installs the command passbook", async () => {
    const { stdout } = await run("npx", ["--no", "--", "passbook", "--version"], {
      cwd: installed.folder,
    });
    expect(stdout).toBe("0.1.0\n");
    // Without a command, the help is on standard error, and the exit code says so.
    const bare = run("npx", ["--no", "--", "passbook-client"], { cwd: installed.folder });
    await expect(bare).rejects.toMatchObject({
      stderr: expect.stringContaining("Usage: passbook"),
    });
  });

  it("every relative link of the package's manual and guides leads to a file of the package", () => {
    const folder = join(installed.folder, "node_modules/passbook-client");
    const pages = ["README.md", ...globSync("docs/*.md", { cwd: folder })];
    const links = pages.flatMap((page) =>
      [...readFileSync(join(folder, page), "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(
        ([, path = ""]) => join(folder, dirname(page), path),
      ),
    );
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter((path) => !existsSync(path))).toEqual([]);
    for (const named of ["docs/testing.md", "examples/oauth/app.mjs"]) {
      expect(links).toContain(join(folder, named));
    }
  });

  it("each entry exports its own calls, and the first one has none for servers", async () => {
    const script = join(installed.folder, "entries.js");
    const names = ["", "/server", "/react", "/oauth", "/resource", "/admin", "/testing"];
    for (const name of ["react", "scheduler"]) {
      const target = join(installed.folder, "node_modules", name);
      if (!existsSync(target)) await symlink(resolve("node_modules", name), target);
    }
    await writeFile(
      script,
      `const names = ${JSON.stringify(names)};
const entries = await Promise.all(names.map((name) => import("passbook-client" + name)));
const { default: manifest } = await import("passbook-client/package.json", { with: { type: "json" } });
console.log(JSON.stringify([manifest.version, ...entries.map((it) => Object.keys(it))]));`,
    );
    const { stdout } = await run(process.execPath, [script]);
    const [version, root, server, ...others] = JSON.parse(stdout) as string[][];
    expect(version).toBe("0.1.0");
    const of_servers = [
      "createAppClient",
      "createAppServer",
      "createTokenVerifier",
      "verifyWebhook",
    ];
    expect(server?.toSorted()).toEqual(of_servers);
    const shared = ["PassbookError", "isPassbookError"];
    const elsewhere = [server, ...others].flat().filter((name) => !shared.includes(name ?? ""));
    expect(root?.filter((name) => elsewhere.includes(name))).toEqual([]);
    expect(others.every((list) => list.length > 0)).toBe(true);
  });

  it("the package works in Node with plain JavaScript", async () => {
    const script = join(installed.folder, "script.js");
    await writeFile(script, `${PROGRAM}\nconsole.log(await tryIt());`);
    const { stdout } = await run(process.execPath, [script]);
    expect(stdout).toBe("it works\n");
  });

  it("the package works in a Worker", async () => {
    const { folder } = installed;
    const handler = "export default { fetch: async () => new Response(await tryIt()) };";
    await writeFile(join(folder, "worker.js"), `${PROGRAM}\n${handler}`);
    const settings = 'name = "app"\nmain = "worker.js"\ncompatibility_date = "2026-10-20"\n';
    await writeFile(join(folder, "wrangler.toml"), settings);
    const port = await freePort();
    const config = join(folder, "wrangler.toml");
    const args = [`--config=${config}`, `--port=${port}`, "--inspector-port=0"];
    const wrangler = await startWrangler(args, "pipe");
    try {
      expect(await responseOf(`http://localhost:${port}/`)).toBe("it works");
    } finally {
      wrangler.kill("SIGTERM");
      await exitCode(wrangler);
    }
  });

  it("an OAuth client is small, and a protected resource includes only the client with which it charges", async () => {
    const make = `createOAuthClient({ baseUrl: "https://p.example", clientId: "c", redirectUri: "https://c.example/b" })`;
    const client = await bundle(
      `import { createOAuthClient } from "passbook-client/oauth"; globalThis.oauth = ${make};`,
      "",
    );
    const server = await bundle(
      `import { createProtectedResource } from "passbook-client/resource";
globalThis.resource = createProtectedResource({ baseUrl: "https://p.example", resource: "https://r.example" });`,
      "",
    );
    expect(client.length).toBeLessThan(13.5 * 1024);
    expect(server.length).toBeLessThan(52 * 1024);
  });

  it("a page loads at most 9 KiB of the client, and the code of jobs only with its first job", async () => {
    const chunks = await chunksOf("globalThis.tried = tryIt();", PROGRAM, "page");
    const loaded = chunks.filter(({ isEntry }) => isEntry);
    // The loop appends to the list that it walks.
    for (const { imports } of loaded) {
      const added = chunks.filter((it) => imports.includes(it.fileName) && !loaded.includes(it));
      loaded.push(...added);
    }
    const bytes = loaded.reduce(
      (sum, { code }) => sum + gzipSync(code, { level: 9 }).byteLength,
      0,
    );
    expect(bytes).toBeGreaterThan(4 * 1024);
    expect(bytes).toBeLessThan(9 * 1024);
    expect(chunks.length).toBeGreaterThan(loaded.length);
  });

  it("the package works in a web page", async () => {
    const script = await bundle("globalThis.tried = tryIt();");
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await page.addScriptTag({ type: "module", content: script });
      // An inline module runs after the tag is added.
      const tried = await page.waitForFunction("globalThis.tried");
      expect(await tried.jsonValue()).toBe("it works");
      // The bundle has the client only, without the command line and the code for servers.
      expect(script).not.toContain("session+jwt");
      expect(script).not.toContain("/api/admin");
    } finally {
      await browser.close();
    }
  });

  it("the package's types pass a strict compiler, and refuse wrong calls", async () => {
    const source = join(installed.folder, "typed.ts");
    await mkdir(join(installed.folder, "node_modules/@types"), { recursive: true });
    for (const types of ["@types/react", "csstype"]) {
      const target = join(installed.folder, "node_modules", types);
      await cp(join("node_modules", types), target, { recursive: true });
    }
    await writeFile(
      source,
      `import { createClient, isPassbookError, type Job } from "passbook-client";
import { createAdmin, pagesOf } from "passbook-client/admin";
import { createOAuthClient, type ConnectionTokens } from "passbook-client/oauth";
import { PassbookProvider, useWallet } from "passbook-client/react";
import { createProtectedResource } from "passbook-client/resource";
const oauth = createOAuthClient({ baseUrl: "https://passbook.example.com", clientId: "c", redirectUri: "https://c.example/b" });
const { pending } = await oauth.start({ scopes: ["read"] });
const connection = await oauth.callback(new URL("https://c.example/b"), pending);
createClient({ baseUrl: "https://passbook.example.com", token: connection.token });
const saved: ConnectionTokens = connection.tokens;
await oauth.connection(saved).exchange({ caps: [{ credits: 50, period: "month" }] });
const admin = createAdmin({ baseUrl: "https://passbook.example.com", token: "t" });
const { credits } = await admin.adjustCredits("ada@example.com", { amount: 5, reason: "sorry" }, { idempotencyKey: "k" });
credits.toFixed();
for await (const { accounts } of pagesOf((page) => admin.findAccounts({ state: "active", ...page }))) accounts[0]?.email;
for await (const text of admin.listAuditCsv({ from: new Date() })) text.trim();
// @ts-expect-error a change of credits needs a reason
admin.adjustCredits("ada@example.com", { amount: 5 });
// @ts-expect-error an unknown state
admin.findAccounts({ state: "locked" });
// @ts-expect-error an unknown period
connection.exchange({ caps: [{ credits: 50, period: "year" }] });
// @ts-expect-error a request names its scopes
oauth.start({});
const resource = createProtectedResource({ baseUrl: "https://passbook.example.com", resource: "https://r.example" });
const handler: (request: Request) => Promise<Response> = resource.protect((_, { identity_id }) => new Response(identity_id));
handler satisfies object;
const passbook = createClient({ baseUrl: "https://passbook.example.com", token: async () => "t" });
const ran = await passbook.runJob({ app: "a", action: "b", costEstimate: 1 }, async ({ signal }) => ({
  result: signal.aborted, actualCost: 1,
}));
const result: boolean = ran.result;
const job: Job = ran.job;
for await (const entry of passbook.ledger.all({ from: new Date() })) entry.amount.toFixed();
try { await passbook.me(); } catch (error) { if (isPassbookError(error, "scope")) error.code satisfies "scope"; }
const signal: AbortSignal | undefined = undefined;
for await (const event of passbook.events({ after: 1, signal })) {
  if ("credits" in event) event.credits.toFixed();
  if ("job" in event) event.job?.status.padEnd(9);
}
passbook.runJob({ app: "a", action: "b", costEstimate: 1 }, async () => ({ result: 1, actualCost: 1 }), { signal });
passbook.jobs.list({}, { signal });
passbook.logInDevice({ onCode: () => {}, signal });
const family: boolean = result;
createClient({ baseUrl: "https://passbook.example.com", cookies: family });
createClient({ baseUrl: "https://passbook.example.com", token: undefined });
createClient({ baseUrl: "https://passbook.example.com", storage: sessionStorage });
// @ts-expect-error a token or a storage for the token of a sign-in, not both
createClient({ baseUrl: "https://passbook.example.com", token: "t", storage: sessionStorage });
passbook.runJob({ app: "a", action: "b", costEstimate: 1 }, async ({ progress }) => {
  const reported = await progress({ spent: 1 });
  // @ts-expect-error a report may have no response
  return { result: reported.job, actualCost: 1 };
}, { onFailure: "charge_spent" });
// @ts-expect-error a token or cookies, not both
createClient({ baseUrl: "https://passbook.example.com", token: "t", cookies: true });
const made = await passbook.jobs.createMany([{ app: "a", action: "b", costEstimate: 1 }]);
for (const item of made.results) {
  if ("code" in item && item.code === "insufficient_credits") item.error.padEnd(9);
  // @ts-expect-error creating an item is never refused with this code
  if ("code" in item && item.code === "job_unknown") item.error.padEnd(9);
}
const caught: unknown = null;
// @ts-expect-error a misspelled code in a comparison
if (isPassbookError(caught) && caught.code === "insuficient_credits") caught.message.padEnd(9);
// @ts-expect-error a misspelled code
isPassbookError(new Error(), "insuficient_credits");
// @ts-expect-error a job needs an estimate
passbook.jobs.create({ app: "a", action: "b" });
// @ts-expect-error the work must return its cost
passbook.runJob({ app: "a", action: "b", costEstimate: 1 }, async () => ({ result: 1 }));
// @ts-expect-error an unknown status
passbook.jobs.list({ status: "done" });
// @ts-expect-error baseUrl is missing
createClient({});
// @ts-expect-error responses are read-only
job.reserved = 0;
export function Balance(): string | null {
  const wallet = useWallet();
  // @ts-expect-error only a ready wallet has credits
  wallet.credits;
  return wallet.status === "ready" ? wallet.credits.toFixed() : null;
}
// @ts-expect-error a provider needs a client
PassbookProvider({ app: "sketch" });
const show = (credits: number, held: number): string => credits.toFixed() + held.toFixed();
${blocksOf("src/client/README.md", "js").find((code) => code.includes("passbook.events("))}
export { result };
`,
    );
    const options = [
      "--strict",
      "--exactOptionalPropertyTypes",
      "--noEmit",
      "--module",
      "nodenext",
      "--target",
      "es2022",
    ];
    const libraries = ["--lib", "es2022,dom,dom.iterable", "--types", ""];
    const tsc = resolve("node_modules/.bin/tsc");
    const checked = run(tsc, [...options, ...libraries, "typed.ts"], { cwd: installed.folder });
    await expect(checked).resolves.toBeDefined();
  });
});
