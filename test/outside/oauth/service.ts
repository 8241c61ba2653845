/** A Worker with clients, documents of clients, and the example of an MCP server, for tests with real OAuth clients. */
import { spawn, type ChildProcess } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import {
  goThrough,
  openPassbookVisitor,
  operateService,
  type Operating,
  type ServiceUnderTest,
} from "../../worker/oauth/conformance/passbook_target.ts";
import { installPackage, type Installed } from "../support/installed.ts";
import { startTestWorker } from "../support/test_worker.ts";

export interface OAuthService extends ServiceUnderTest, Operating {
  /** Publishes the document of a client at `https://{host}.example.com/client.json`, which is its id. */
  publish(host: string, document: object): string;
  /** Opens an address in a new browser as this person, allows what is asked, and returns where it ends. */
  visit(email: string): (url: string | URL) => Promise<URL>;
  log(): string;
  stop(): Promise<void>;
}

/** Starts a Worker on empty stores, with the settings of development and `more`. */
export async function startOAuthService(
  name: string,
  more: Readonly<Record<string, string>> = {},
): Promise<OAuthService> {
  const directory = await mkdtemp(join(tmpdir(), `passbook-${name}-`));
  const documents = new Map<string, object>();
  const [port, document_port] = [await freePort(), await freePort()];
  const server = await serveDocuments(document_port, documents);
  const env_file = join(directory, "settings.env");
  const settings = { TEST_CLIENT_DOCUMENTS: `http://localhost:${document_port}`, ...more };
  const lines = Object.entries(settings).map(([setting, value]) => `${setting}='${value}'\n`);
  await writeFile(env_file, (await developmentSettings()) + lines.join(""));
  const worker: LocalWorker = await startTestWorker({
    port,
    persist_to: join(directory, "state"),
    env_file,
    script: "test/worker/oauth/worker_with_client_documents.ts",
  });
  const service: ServiceUnderTest = {
    issuer: worker.url,
    fetch: (url, init) => fetch(url, init),
    wait: (seconds) => new Promise((done) => setTimeout(done, seconds * 1000)),
  };
  return {
    ...service,
    ...(await operateService(service)),
    publish(host, document) {
      const client_id = `https://${host}.example.com/client.json`;
      documents.set(`/${host}/client.json`, { client_id, ...document });
      return client_id;
    },
    visit: (email) => (url) => goThrough(openPassbookVisitor(service), url, email),
    log: () => worker.log(),
    async stop() {
      server.close();
      await worker.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Signs a person in on the service's own pages. @returns the headers of such a page's requests */
export async function signInOnPages(
  issuer: string,
  email: string,
): Promise<Readonly<Record<string, string>>> {
  const headers = { Origin: issuer };
  const body = new URLSearchParams({ email });
  const init = { method: "POST", redirect: "manual", headers, body } as const;
  const signed_in = await fetch(`${issuer}/signin/dev`, init);
  const cookies = signed_in.headers.getSetCookie().map((it) => it.split(";")[0]);
  return { ...headers, Cookie: cookies.join("; "), "Content-Type": "application/json" };
}

/** Approves the code of a device login as this person, with these scopes and limits; without any if left out. */
export async function approveDevice(
  { issuer }: Pick<OAuthService, "issuer">,
  user_code: string,
  email: string,
  limits: object = {},
): Promise<void> {
  const approved = await fetch(`${issuer}/api/device/complete`, {
    method: "POST",
    headers: await signInOnPages(issuer, email),
    body: JSON.stringify({ user_code, ...limits }),
  });
  if (!approved.ok) throw new Error(await approved.text());
}

async function serveDocuments(
  port: number,
  documents: ReadonlyMap<string, object>,
): Promise<Server> {
  const server = createServer((request, response) => {
    const document = documents.get(request.url ?? "");
    response.writeHead(document === undefined ? 404 : 200, { "Content-Type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((listening) => server.listen(port, "localhost", listening));
  return server;
}

/** The packages that the examples need, in addition to the client. */
const PACKAGES = ["@hono/node-server", "@modelcontextprotocol/server"];

/** The examples in a folder with the packages that they import. */
export async function installExamples(): Promise<Installed> {
  const installed = await installPackage();
  await cp("examples", installed.folder, { recursive: true });
  for (const name of PACKAGES) {
    const target = join(installed.folder, "node_modules", name);
    await mkdir(resolve(target, ".."), { recursive: true });
    await symlink(resolve("node_modules", name), target);
  }
  return installed;
}

/** Starts a program, and waits until it prints `pattern`. */
export async function startProgram(
  script: string,
  env: Readonly<Record<string, string>>,
  pattern: RegExp,
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  await heard(child, pattern);
  return child;
}

/** Waits until the output of a child process matches `pattern`. */
export function heard(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = "";
  return new Promise((found, failed) => {
    const listen = (chunk: Buffer): void => {
      text += chunk.toString();
      const match = pattern.exec(text);
      if (match !== null) found(match);
    };
    child.stdout?.on("data", listen);
    child.stderr?.on("data", listen);
    child.once("exit", () => failed(new Error(`it ended:\n${text}`)));
  });
}
