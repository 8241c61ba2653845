/** docs/oauth-libraries.md: each program, as written, signs a person in. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { freePort } from "../../../src/commands/local_worker.ts";
import { goThrough, openPassbookVisitor } from "../../worker/oauth/conformance/passbook_target.ts";
import { openVisitor, type Landing } from "../../worker/oauth/conformance/visitor.ts";
import { blocksOf } from "../support/guide.ts";
import { startOAuthService, type OAuthService } from "./service.ts";

const SLOW = { tags: "slow" };

let service: OAuthService;
let folder: string;

beforeAll(async () => {
  service = await startOAuthService("libraries");
  folder = await mkdtemp(join(tmpdir(), "passbook-libraries-"));
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The program of a section of the guide. */
function programOf(library: string): string {
  const [program] = blocksOf("docs/oauth-libraries.md", "js", library);
  if (program === undefined) throw new Error(`The guide has no program for ${library}.`);
  return program;
}

/** Starts the program with a client of its own, and waits until it responds. */
async function start(library: string, path: string): Promise<string> {
  const origin = `http://localhost:${await freePort()}`;
  const id = library.toLowerCase().replace(/\W/, "-");
  const client = await service.registerClient(id, { redirect_uris: [`${origin}${path}`] });
  const script = join(folder, `${id}.mjs`);
  await writeFile(script, programOf(library));
  const settings = {
    APP_URL: origin,
    APP_SECRET: "01234567890123456789012345678901",
    PASSBOOK_URL: service.issuer,
    CLIENT_ID: client.client_id,
    CLIENT_SECRET: client.client_secret,
  };
  const program = spawn(process.execPath, [script], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void program.kill());
  await listening(program, origin);
  return origin;
}

async function listening(program: ChildProcess, origin: string): Promise<void> {
  let output = "";
  program.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  while (program.exitCode === null) {
    const response = await fetch(origin).catch(() => null);
    if (response !== null) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`The program ended:\n${output}`);
}

const htmlOf = (landing: Landing): string => {
  if (landing.kind === "page") return landing.page.html;
  throw new Error(`It left to ${landing.url.href}.`);
};

it.each([
  ["Auth.js", "/auth/callback/passbook"],
  ["better-auth", "/api/auth/callback/passbook"],
  ["Passport", "/callback"],
])(
  "the program with %s signs a person in with PKCE and shows their wallet, as the guide has it",
  SLOW,
  async (library, path) => {
    const email = `${library.toLowerCase().replace(/\W/, "-")}@example.com`;
    const origin = await start(library, path);
    const app = openVisitor(origin, fetch);
    let landing = await app.open(new URL(origin));
    // Auth.js has a page with a button first.
    if (landing.kind === "page") {
      const [form] = landing.page.forms;
      if (form === undefined) throw new Error(landing.page.html);
      landing = await app.submit(form);
    }
    if (landing.kind === "page") throw new Error(landing.page.html);
    const asked = landing.url;
    expect(asked.origin).toBe(service.issuer);
    expect(asked.searchParams.get("code_challenge_method")).toBe("S256");
    const back = await goThrough(openPassbookVisitor(service), asked, email);
    expect(`${back.origin}${back.pathname}`).toBe(`${origin}${path}`);
    expect(htmlOf(await app.open(back))).toBe(`${email} has 0 credits.`);
    // The code was used: a browser without the app's cookies gets nothing from it.
    const stranger = await openVisitor(origin, fetch).open(back);
    expect(stranger.kind === "page" ? stranger.page.html : "").not.toContain(email);
  },
);
