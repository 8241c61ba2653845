/** Sign-in providers that are configured by their issuer: `npm run providers` and `npm run dev`. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { exitCode, freePort } from "../../../src/commands/local_worker.ts";
import { CLIENT, goThroughProvider, startRealProvider } from "../flows/real_provider.ts";
import { familyOf, survivorsOf } from "./processes.ts";

const WAITING = { timeout: 100_000, interval: 200 };

let folder: string;
let server: Server | undefined;
let started: readonly number[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "passbook-providers-"));
});
afterEach(() => {
  server?.close();
  for (const pid of survivorsOf(started)) process.kill(pid, "SIGKILL");
  started = [];
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs `npm run providers` with a setting. */
async function providers(setting: unknown) {
  const child = spawn("node", ["src/commands/run.js", "providers"], { stdio: "pipe" });
  child.stdin.end(JSON.stringify(setting));
  const [code, output, said] = await Promise.all([
    exitCode(child),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, said, entries: output === "" ? null : JSON.parse(output) };
}

const ENTRY = { id: "real", name: "Real", ...CLIENT };

/** Serves one document, or the result of `respond`, at every address. */
async function publish(
  document: (issuer: string, path: string) => object | number,
): Promise<string> {
  const port = await freePort();
  const issuer = `http://localhost:${port}`;
  server = createServer((request, response) => {
    const found = document(issuer, request.url ?? "");
    if (typeof found === "number") {
      response.writeHead(found, { Location: "https://elsewhere.example/" }).end();
    } else response.end(JSON.stringify(found));
  });
  await new Promise<void>((resolve) => {
    server?.listen(port, resolve);
  });
  return issuer;
}

const sound = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
});

describe("npm run providers", () => {
  it("npm run providers adds the endpoints of a real provider, and keeps existing fields", async () => {
    const real = await startRealProvider(await freePort());
    const { issuer } = real;
    const preset = { preset: "github", ...CLIENT };
    const spelled_out = { ...ENTRY, id: "other", scope: "openid email", ...sound(issuer) };
    const own = { ...ENTRY, id: "own", issuer, scope: "openid offline_access" };
    const run = await providers([preset, { ...ENTRY, issuer }, spelled_out, own]);
    await real.stop();
    expect(run.code, run.said).toBe(0);
    const found = {
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/me`,
      jwks_uri: `${issuer}/jwks`,
      scope: "openid",
      client_authentication: "client_secret_basic",
      authorization_response_iss_parameter_supported: true,
    };
    expect(run.entries).toEqual([
      preset,
      { ...ENTRY, issuer, ...found },
      spelled_out,
      { ...own, ...found, scope: "openid offline_access" },
    ]);
    expect(run.said).toContain("Fetched the endpoints of real, own");
    expect(run.said).not.toContain(CLIENT.client_secret);
  });

  it("npm run providers finds the metadata of a plain OAuth 2 server", async () => {
    const at = "/.well-known/oauth-authorization-server/tenant";
    const issuer = await publish((origin, path) =>
      path === at ? { ...sound(`${origin}/tenant`), jwks_uri: undefined } : 404,
    );
    const { code, entries } = await providers([{ ...ENTRY, issuer: `${issuer}/tenant` }]);
    expect(code).toBe(0);
    expect(entries[0]).toMatchObject({ token_endpoint: `${issuer}/tenant/token` });
    expect(entries[0]).not.toHaveProperty("scope");
  });

  it.each<[string, (issuer: string) => object | number, string]>([
    ["another issuer", (it) => ({ ...sound(it), issuer: `${it}/` }), "Write the issuer exactly"],
    ["no issuer", (it) => ({ ...sound(it), issuer: undefined }), "Write the issuer exactly"],
    [
      "an endpoint over plain http",
      (it) => ({ ...sound(it), token_endpoint: "http://id.example/token" }),
      'has the token_endpoint "http://id.example/token", which must be an https address',
    ],
    [
      "a script as endpoint",
      (it) => ({ ...sound(it), authorization_endpoint: "javascript:alert(1)" }),
      "which must be an https address",
    ],
    ["no endpoint", (it) => ({ ...sound(it), token_endpoint: undefined }), "has no token_endpoint"],
    [
      "no way for a client with a secret",
      (it) => ({ ...sound(it), token_endpoint_auth_methods_supported: ["private_key_jwt"] }),
      "accepts neither client_secret_basic nor client_secret_post",
    ],
    ["a redirect", () => 302, "responded with status 302"],
    ["nothing", () => 404, "publishes no metadata"],
    ["too much", (it) => ({ ...sound(it), more: "x".repeat(300_000) }), "it is over"],
    ["a list", () => [], "is not a JSON object"],
  ])(
    "npm run providers refuses metadata with %s, and says what to do",
    async (_, document, words) => {
      const issuer = await publish(document);
      const run = await providers([{ ...ENTRY, issuer }]);
      expect(run).toMatchObject({ code: 1, entries: null });
      expect(run.said).toContain("SIGNIN_PROVIDERS, real: ");
      expect(run.said).toContain(words);
      expect(run.said).not.toContain(CLIENT.client_secret);
    },
  );

  it.each([
    ["http://id.example.com", "must be an https address"],
    ["https://id.example.com?tenant=1", "must be an https address"],
    ["http://localhost:1", "gave no response"],
  ])("npm run providers refuses the issuer %s", async (issuer, words) => {
    const run = await providers([{ ...ENTRY, issuer }]);
    expect(run).toMatchObject({ code: 1, said: expect.stringContaining(words) });
  });
});

it(
  "npm run dev writes a provider's endpoints into its settings, and people sign in there",
  { tags: ["slow"] },
  async () => {
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const callback = `${url}/signin/callback/real`;
    const real = await startRealProvider(await freePort(), callback);
    const env_file = join(folder, "settings");
    const entry = { ...ENTRY, name: "It's Real", issuer: real.issuer };
    // The setting spans several lines, as people write it.
    const setting = JSON.stringify([entry], null, 2).replace("'", "\\u0027");
    const others = await developmentSettings();
    await writeFile(env_file, `${others}SIGNIN_PROVIDERS='${setting}'\n# the end\n`);
    const npm = spawn(
      "npm",
      [
        "run",
        "dev",
        "--",
        `--port=${port}`,
        "--inspector-port=0",
        `--persist-to=${join(folder, "state")}`,
        `--env-file=${env_file}`,
      ],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    let output = "";
    npm.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    npm.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const isReady = async () => (await fetch(`${url}/healthz`)).ok;
    await vi.waitFor(async () => expect(await isReady(), output).toBe(true), WAITING);
    started = familyOf(npm.pid ?? 0);

    expect(output).toContain("Fetched the endpoints of real from the issuer");
    const written = await readFile(env_file, "utf8");
    expect(written.startsWith(others)).toBe(true);
    expect(written.endsWith("\n# the end\n")).toBe(true);
    expect(written).toContain(`"token_endpoint":"${real.issuer}/token"`);
    expect((await stat(env_file)).mode & 0o777).toBe(0o600);

    const redirect_to = "http://localhost:3000/back";
    const query = new URLSearchParams({ redirect_to }).toString();
    // The request of a browser that follows the button of the sign-in page.
    const from_own_page = {
      redirect: "manual",
      headers: { "Sec-Fetch-Site": "same-origin" },
    } as const;
    const leaving = await fetch(`${url}/signin/real?${query}`, from_own_page);
    const [cookie = ""] = leaving.headers.getSetCookie().map((it) => it.split(";")[0]);
    const authorization = new URL(leaving.headers.get("Location") ?? "");
    const back = await goThroughProvider(authorization, "ada", callback);
    const landed = await fetch(back, { redirect: "manual", headers: { Cookie: cookie } });
    await real.stop();
    const target = new URL(landed.headers.get("Location") ?? "");
    expect(target.origin + target.pathname).toBe(redirect_to);
    const headers = { Authorization: `Bearer ${target.searchParams.get("token")}` };
    expect((await fetch(`${url}/api/me`, { headers })).status).toBe(200);
  },
);
