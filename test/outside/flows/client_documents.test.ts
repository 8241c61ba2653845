/** Hostile servers of Client ID Metadata Documents, as real processes on this machine, and a running Worker. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { startTestWorker } from "../support/test_worker.ts";

let directory: string;
let worker: LocalWorker;
let server: Server;
let origin: string;
let cookie: string;
/** The paths that the server was asked for. */
const asked: string[] = [];

const documentOf = (path: string, more: object = {}): string =>
  JSON.stringify({
    client_id: `${origin}${path}`,
    client_name: "Sketch agent",
    redirect_uris: [`${origin}/callback`],
    token_endpoint_auth_method: "none",
    ...more,
  });

type Serve = (response: ServerResponse, path: string) => void;

const asJson = (response: ServerResponse, text: string): void => {
  response.setHeader("Content-Type", "application/json");
  response.end(text);
};

const HOSTILE: Readonly<Record<string, Serve>> = {
  "/redirect": (response) => response.writeHead(302, { Location: `${origin}/good` }).end(),
  "/large": (response, path) => asJson(response, documentOf(path, { x: "x".repeat(6 * 1024) })),
  "/silent": () => undefined,
  "/slow": (response) => {
    response.setHeader("Content-Type", "application/json");
    response.write("{");
  },
  "/other-id": (response) => asJson(response, documentOf("/good")),
  "/html": (response, path) => {
    response.setHeader("Content-Type", "text/html");
    response.end(documentOf(path));
  },
  "/no-json": (response) => asJson(response, "{"),
  "/missing": (response) => response.writeHead(404).end(),
  "/closed": (response) => response.destroy(),
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "passbook-"));
  server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const serve = HOSTILE[path] ?? ((it, at) => asJson(it, documentOf(at)));
    serve(response, path);
  });
  const server_port = await freePort();
  await new Promise<void>((resolve) => server.listen(server_port, "localhost", () => resolve()));
  origin = `http://localhost:${server_port}`;
  const env_file = join(directory, "settings");
  await writeFile(env_file, await developmentSettings());
  const port = await freePort();
  worker = await startTestWorker({ port, persist_to: join(directory, "state"), env_file });
  const signed_in = await fetch(`${worker.url}/signin/dev`, {
    method: "POST",
    redirect: "manual",
    headers: { Origin: worker.url },
    body: new URLSearchParams({ email: "ada@example.com" }),
  });
  cookie = signed_in.headers
    .getSetCookie()
    .map((it) => it.split(";")[0])
    .join("; ");
});

afterAll(async () => {
  await worker?.stop();
  server?.closeAllConnections();
  server?.close();
  await rm(directory, { recursive: true, force: true });
});

async function authorize(client_id: string, headers: Record<string, string>) {
  const query = new URLSearchParams({
    response_type: "code",
    client_id,
    redirect_uri: `${origin}/callback`,
    scope: "read",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
  const url = `${worker.url}/oauth/authorize?${query.toString()}`;
  const response = await fetch(url, { headers, redirect: "manual" });
  return { status: response.status, text: await response.text() };
}

/** What the page says in development. In production it is the same page for all: `test/worker/authorization/clients.test.ts`. */
const RULES: Readonly<Record<string, string>> = {
  "/redirect": "is a redirect",
  "/large": "more than 5120 bytes",
  "/silent": "within 5 seconds",
  "/slow": "within 5 seconds",
  "/other-id": "client_id must be the address",
  "/html": "It must be application/json",
  "/no-json": "is not JSON",
  "/missing": "has status 404",
  "/closed": "within 5 seconds",
};

it(
  "in development the page says which rule a hostile document breaks, and only a good one leads to the question",
  { tags: "slow", timeout: 60_000 },
  async () => {
    const signed_in = { Cookie: cookie };
    const good = await authorize(`${origin}/good`, signed_in);
    expect(good.status).toBe(200);
    expect(good.text).toContain("Sketch agent");
    const unknown = await authorize("demo~nothing", signed_in);
    asked.splice(0);
    const paths = Object.keys(HOSTILE);
    const pages = await Promise.all(paths.map((path) => authorize(`${origin}${path}`, signed_in)));
    for (const [index, page] of pages.entries()) {
      expect(page.status).toBe(400);
      expect(page.text, paths[index]).toContain(RULES[paths[index] ?? ""]);
      expect(page.text).toContain("We do not know this app");
    }
    expect(unknown.text).not.toContain("breaks rules");
    expect(worker.log()).toContain("client_document_refused");
    // Each was asked once, and the redirect was not followed.
    expect(asked.toSorted()).toEqual(paths.toSorted());
    for (const client_id of ["https://10.0.0.1/client", "https://localhost/client"]) {
      const page = await authorize(client_id, signed_in);
      expect(page.text).toContain("The address must be https on a public host name");
    }
  },
);

it("for a person who is not signed in, no document is asked for", { tags: "slow" }, async () => {
  asked.splice(0);
  const paths = ["/good", ...Object.keys(HOSTILE)];
  const pages = await Promise.all(paths.map((path) => authorize(`${origin}${path}`, {})));
  const redirected = pages.filter(({ status }) => status === 302 || status === 303);
  expect(redirected).toHaveLength(paths.length);
  expect(asked).toEqual([]);
});
