/** Upstream tokens in a running Worker, from a real OpenID provider. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import {
  CLIENT,
  startRealProvider,
  type GrantedTokens,
  type RealProvider,
} from "./real_provider.ts";
import { startTestWorker } from "../support/test_worker.ts";

let directory: string;
let provider: RealProvider;
let worker: LocalWorker;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "passbook-"));
  provider = await startRealProvider(await freePort());
  const { issuer } = provider;
  const settings = {
    id: "real",
    name: "Real",
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    scope: "openid offline_access",
    ...CLIENT,
  };
  const env_file = join(directory, "settings");
  const lines = [
    await developmentSettings(),
    `SIGNIN_PROVIDERS='${JSON.stringify([settings])}'`,
    "SOCIAL_PROVIDER=real",
    `SOCIAL_API_URL=${issuer}/me`,
  ];
  await writeFile(env_file, lines.join("\n"));
  worker = await startTestWorker({
    port: await freePort(),
    persist_to: join(directory, "state"),
    env_file,
    script: "test/worker/account/vault/worker_with_vault_door.ts",
  });
});

afterAll(async () => {
  await worker?.stop();
  await provider?.stop();
  await rm(directory, { recursive: true, force: true });
});

interface Person {
  readonly granted: GrantedTokens;
  readonly identity_id: string;
  oauthToken(signal?: AbortSignal): Promise<{ status: number; body: Record<string, string> }>;
  runOut(): Promise<void>;
}

/** A person who is signed in here and gave consent at the provider. */
async function connect(login: string): Promise<Person> {
  const signed_in = await fetch(`${worker.url}/signin/dev`, {
    method: "POST",
    body: new URLSearchParams({
      email: `${login}@example.com`,
      redirect_to: "http://localhost:3000/",
    }),
    redirect: "manual",
  });
  const back = new URL(signed_in.headers.get("Location") ?? "");
  const token = back.searchParams.get("token") ?? "";
  const [, payload = ""] = token.split(".");
  const { sub } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { sub: string };
  const granted = await provider.grant(login);
  const atTestDoor = async (name: string, body: object): Promise<void> => {
    const url = `${worker.url}/test/${name}?identity_id=${encodeURIComponent(sub)}`;
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
  };
  const { access_token, refresh_token, scope, expires_in } = granted;
  const expires_at_ms = Date.now() + expires_in * 1000;
  await atTestDoor("keep", {
    provider: "real",
    subject: login,
    issuer: provider.issuer,
    client_id: CLIENT.client_id,
    linked_at_ms: Date.now(),
    access_token,
    refresh_token,
    scope,
    expires_at_ms,
  });
  return {
    granted,
    identity_id: sub,
    runOut: () => atTestDoor("run-out", {}),
    async oauthToken(signal) {
      const headers = { Authorization: `Bearer ${token}` };
      const answer = await fetch(`${worker.url}/api/oauthToken/real`, {
        headers,
        ...(signal === undefined ? {} : { signal }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, string> };
    },
  };
}

describe("a real provider that rotates refresh tokens", () => {
  it("20 concurrent callers get one renewed token, three times in a row", async () => {
    const ada = await connect("ada");
    expect((await ada.oauthToken()).body).toEqual({ token: ada.granted.access_token });
    const seen = new Set([ada.granted.access_token]);
    for (const round of [1, 2, 3]) {
      await ada.runOut();
      const before = provider.refreshes();
      const answers = await Promise.all(Array.from({ length: 20 }, () => ada.oauthToken()));
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
      const tokens = new Set(answers.map(({ body }) => body["token"] ?? ""));
      expect(tokens.size).toBe(1);
      expect(provider.refreshes() - before).toBe(1);
      const [token = ""] = tokens;
      expect(await provider.subjectOf(token)).toBe("ada");
      expect(seen.add(token).size).toBe(round + 1);
    }
    expect(provider.revocations()).toBe(0);
  });

  it("a renewal is completed after its caller disconnects", async () => {
    const cleo = await connect("cleo");
    await cleo.runOut();
    const before = provider.refreshes();
    const release = provider.holdBack();
    const caller = new AbortController();
    const aborted = cleo.oauthToken(caller.signal).catch((error: Error) => error.name);
    await vi.waitFor(() => expect(provider.waiting()).toBe(1), { timeout: 5_000 });
    caller.abort();
    expect(await aborted).toBe("AbortError");
    const next = cleo.oauthToken();
    release();
    const { status, body } = await next;
    expect(status).toBe(200);
    expect(await provider.subjectOf(body["token"] ?? "")).toBe("cleo");
    expect(provider.refreshes() - before).toBe(1);
    expect(provider.revocations()).toBe(0);
  });

  it("an upstream token is 502 while the provider is down and works when it is back", async () => {
    const dora = await connect("dora");
    await dora.runOut();
    await provider.stop();
    expect(await dora.oauthToken()).toMatchObject({
      status: 502,
      body: { code: "upstream_unavailable" },
    });
    await provider.start();
    const { status, body } = await dora.oauthToken();
    expect(status).toBe(200);
    expect(await provider.subjectOf(body["token"] ?? "")).toBe("dora");
  });

  it("a revoked grant is reported as reconnect_required, and signing in again repairs it", async () => {
    const edna = await connect("edna");
    await provider.revokeAll();
    await edna.runOut();
    expect(await edna.oauthToken()).toMatchObject({
      status: 404,
      body: { code: "reconnect_required" },
    });
    const again = await connect("edna");
    expect(again.identity_id).toBe(edna.identity_id);
    expect((await edna.oauthToken()).body).toEqual({ token: again.granted.access_token });
  });
});

describe("/api/socialMe", () => {
  it("/api/socialMe queries the user-info endpoint with the caller's bearer", async () => {
    const { granted } = await connect("fay");
    const ask = (token: string): Promise<Response> =>
      fetch(`${worker.url}/api/socialMe`, { headers: { Authorization: `Bearer ${token}` } });
    const answer = await ask(granted.access_token);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ sub: "fay" });
    const refused = await ask("no-such-token");
    expect(refused.status).toBe(502);
    expect(await refused.json()).toMatchObject({ code: "upstream_error", upstream_status: 401 });
  });
});

it("no upstream token is in the log or unencrypted on disk", async () => {
  const state = join(directory, "state");
  const files = (await readdir(state, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  const stored = await Promise.all(
    files.map((entry) => readFile(join(entry.parentPath, entry.name), "latin1")),
  );
  const everything = stored.join("\n");
  expect(everything).toContain("upstream_tokens");
  await vi.waitFor(() => expect(worker.log()).toContain("upstream_refresh"));
  expect(provider.issued()).not.toHaveLength(0);
  for (const secret of [CLIENT.client_secret, ...provider.issued()]) {
    expect(everything.includes(secret)).toBe(false);
    expect(worker.log().includes(secret)).toBe(false);
  }
});
