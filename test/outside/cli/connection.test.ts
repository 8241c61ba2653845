/** The connection that `passbook connect` saves, in this process, against a stand-in for the service. */
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { connect } from "../../../src/cli/connect.ts";
import { readLogin } from "../../../src/cli/credentials_file.ts";
import { signedIn } from "../../../src/cli/session.ts";

interface Reply {
  readonly status?: number;
  readonly body: object;
}

let folder: string;
let file: string;
let server: Server;
let url: string;
let stderr: string;
/** The requests that change something, such as "/oauth/revoke pb_rt_0". */
let received: string[];
/** What the token endpoint does. */
let answerTokens: () => Promise<Reply>;
/** What the list of tokens responds with. */
let answerList: () => Reply;

const tokens = (number: number) => ({
  access_token: `pb_at_${number}`,
  token_type: "Bearer",
  expires_in: 540,
  refresh_token: `pb_rt_${number}`,
  scope: "read write offline_access",
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "passbook-connection-"));
  file = join(folder, "passbook/credentials.json");
  await mkdir(join(folder, "passbook"));
  [stderr, received] = ["", []];
  answerTokens = async () => ({ body: tokens(1) });
  answerList = () => ({ body: { tokens: [] } });
  server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  url = `http://localhost:${(server.address() as AddressInfo).port}`;
  vi.stubEnv("XDG_CONFIG_HOME", folder);
  vi.stubEnv("PASSBOOK_TOKEN", "");
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    stderr += String(text);
    return true;
  });
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status = 200, body } = await answer(request);
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

async function answer(request: IncomingMessage): Promise<Reply> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const form = new URLSearchParams(Buffer.concat(pieces).toString());
  const path = request.url ?? "";
  if (path === "/oauth/token") {
    received.push(`${path} ${form.get("refresh_token") ?? "code"}`);
    return answerTokens();
  }
  if (path === "/.well-known/oauth-authorization-server") return { body: { issuer: url } };
  if (path === "/oauth/revoke") {
    received.push(`${path} ${form.get("token")}`);
    return { body: {} };
  }
  return answerList();
}

/** Saves a connection with the tokens 0, whose access token has expired. */
async function saveConnection(at = url): Promise<void> {
  const { access_token, refresh_token } = tokens(0);
  const connection = {
    access_token,
    refresh_token,
    expires_at: new Date(0).toISOString(),
    scopes: ["read", "write", "offline_access"],
    resource: null,
    identity_id: null,
  };
  await writeFile(file, JSON.stringify({ url: at, token: access_token, label: "CLI", connection }));
}

/** Connects. The person agrees at once. */
async function connectOnce(json = true): Promise<void> {
  const connecting = connect({ url, browser: false, json });
  const address = await vi.waitFor(() => new URL(/Open\s+(\S+)/.exec(stderr)?.[1] ?? ""));
  const back = new URL(address.searchParams.get("redirect_uri") ?? "");
  const { state = "" } = Object.fromEntries(address.searchParams);
  back.search = new URLSearchParams({ code: "pb_ac_1", state, iss: url }).toString();
  await fetch(back);
  await connecting;
}

it("a second connect saves its tokens, and then revokes those that it replaces", async () => {
  await saveConnection();
  await connectOnce();
  expect(await readLogin(file)).toMatchObject({ token: "pb_at_1" });
  expect(received).toEqual(["/oauth/token code", "/oauth/revoke pb_rt_0"]);
  expect(stderr).not.toContain("not revoked");
});

it("a second connect succeeds if the replaced tokens cannot be revoked, and says where to revoke them", async () => {
  await saveConnection("http://localhost:1");
  await connectOnce();
  expect(await readLogin(file)).toMatchObject({ url, token: "pb_at_1" });
  expect(stderr).toContain("The token “CLI”, which this replaces, was not revoked");
  expect(stderr).toContain("http://localhost:1/account/access");
});

it("connect saves its tokens also if the service does not list their limits, and says where these are", async () => {
  answerList = () => ({ status: 403, body: { error: "no", code: "scope" } });
  await connectOnce(false);
  expect(await readLogin(file)).toMatchObject({ token: "pb_at_1" });
  expect(stderr).toContain(`Its limits are on ${url}/account/access.`);
  expect(stderr).not.toContain("whole balance");
});

it("Ctrl-C during a renewal ends the command only after the renewed tokens are saved", async () => {
  await saveConnection();
  const killed = vi.spyOn(process, "kill").mockImplementation(() => {
    received.push("ended");
    return true;
  });
  answerTokens = async () => {
    // As if the person pressed Ctrl-C after the service renewed the tokens.
    received.push(process.emit("SIGINT", "SIGINT") ? "waits" : "ended");
    return { body: tokens(1) };
  };
  await (await signedIn({})).tokens.list();
  expect(received).toEqual(["/oauth/token pb_rt_0", "waits", "ended"]);
  expect(killed).toHaveBeenCalledWith(process.pid, "SIGINT");
  expect(await readLogin(file)).toMatchObject({ connection: { refresh_token: "pb_rt_1" } });
  expect(process.listenerCount("SIGINT")).toBe(0);
});

it("a renewal does not overwrite the tokens of a connect at the same time", async () => {
  await saveConnection();
  let connecting: Promise<void> = Promise.resolve();
  answerTokens = async () => {
    answerTokens = async () => ({ body: tokens(2) });
    connecting = connectOnce();
    // The connect has its tokens, and waits until the renewed ones are saved.
    await vi.waitFor(() => expect(received).toContain("/oauth/token code"));
    return { body: tokens(1) };
  };
  await (await signedIn({})).tokens.list();
  await connecting;
  expect(received).toContain("/oauth/revoke pb_rt_1");
  expect(await readLogin(file)).toMatchObject({ connection: { refresh_token: "pb_rt_2" } });
});

it("the lock of a program that was killed is taken over", async () => {
  await saveConnection();
  await writeFile(`${file}.lock`, "");
  const long_ago = new Date(Date.now() - 60_000);
  await utimes(`${file}.lock`, long_ago, long_ago);
  await (await signedIn({})).tokens.list();
  expect(await readLogin(file)).toMatchObject({ token: "pb_at_1" });
  expect(await readdir(join(folder, "passbook"))).toEqual(["credentials.json"]);
});

it("if a connection has ended, the error has the service's reason and the command that connects again", async () => {
  await saveConnection();
  const error_description = "The refresh token was used before.";
  answerTokens = async () => ({ status: 400, body: { error: "invalid_grant", error_description } });
  const failed = (await signedIn({})).tokens.list();
  await expect(failed).rejects.toMatchObject({
    code: "no_credentials",
    message: `${url} no longer accepts this machine's connection: ${error_description} Run: passbook connect --url ${url}`,
  });
});
