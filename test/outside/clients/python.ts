/** The tests of the Python client, `clients/python/tests`. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { expect } from "vitest";
import { DEVELOPMENT_OPERATOR } from "../../../src/commands/development_settings.ts";
import { goThrough, openPassbookVisitor } from "../../worker/oauth/conformance/passbook_target.ts";

const run = promisify(execFile);

interface PythonTests {
  /** The output of the tests. */
  readonly said: string;
  readonly has_httpx: boolean;
}

/** Runs the tests against the Worker at `url`; throws if one fails. */
export async function runPythonTests(url: string): Promise<PythonTests> {
  const python = await findPython();
  const browser = await openBrowser(url);
  const { key, client_secret, admin_token } = await registerApp(url);
  const env = {
    PATH: process.env["PATH"],
    PYTHONPATH: "clients/python",
    PYTHONDONTWRITEBYTECODE: "1",
    PASSBOOK_URL: url,
    PASSBOOK_BROWSER: browser.url,
    PASSBOOK_APP_KEY: key,
    PASSBOOK_CLIENT_SECRET: client_secret,
    PASSBOOK_ADMIN_TOKEN: admin_token,
    PASSBOOK_SIGNED_WEBHOOK: JSON.stringify(signedWebhook()),
  };
  // Warnings are errors, such as a connection that is not closed.
  const args = ["-W", "error", "-m", "unittest", "discover", "-s", "clients/python/tests"];
  try {
    const { stderr: said } = await run(python, args, { env });
    const found = "import importlib.util; print(importlib.util.find_spec('httpx') is not None)";
    const { stdout } = await run(python, ["-c", found], { env });
    return { said, has_httpx: stdout.trim() === "True" };
  } finally {
    browser.close();
  }
}

/**
 * Opens `url` as the person `email`, who allows what the page suggests, or without a limit, and responds with the address at
 * which the browser ends.
 */
async function openBrowser(issuer: string) {
  const service = { issuer, fetch, wait: async () => {} };
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? "", "http://browser").searchParams;
    const [url, email] = [query.get("url") ?? "", query.get("email") ?? ""];
    const choices = query.has("unlimited") ? { credits: "", no_limit: "yes" } : {};
    goThrough(openPassbookVisitor(service), url, email, choices as Record<string, string>).then(
      ({ href }) => response.end(href),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** A request that the reference implementation of Standard Webhooks signed now. */
function signedWebhook() {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const data = { identity_id: "user_äöü", line: 17, credits: 18, held: 5, threshold: 20 };
  const body = JSON.stringify({ type: "credits.low", timestamp: "2026-11-22T09:30:00.000Z", data });
  const at = new Date();
  const headers = {
    "webhook-id": "8c7e.17.credits.low",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("8c7e.17.credits.low", at, body),
  };
  return { secret, body, headers };
}

interface Made {
  readonly key?: string;
  readonly client_secret?: string;
  readonly user_code?: string;
  readonly device_code?: string;
  readonly token?: string;
}

/**
 * The key of a new app with a resource, the secret of its client, and an operator's token. The app's jobs may cost half more
 * than their estimate.
 */
async function registerApp(url: string) {
  const body = new URLSearchParams({ email: DEVELOPMENT_OPERATOR });
  const signed_in = await fetch(`${url}/signin/dev`, {
    method: "POST",
    body,
    redirect: "manual",
  });
  const cookies = signed_in.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  const send = async (method: string, path: string, content?: object): Promise<Made> => {
    const response = await fetch(`${url}/api${path}`, {
      method,
      headers: {
        Cookie: cookies.join("; "),
        Origin: url,
        "Content-Type": "application/json",
        "Idempotency-Key": crypto.randomUUID(),
      },
      ...(content === undefined ? {} : { body: JSON.stringify(content) }),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Made;
  };
  const sketch = "/admin/apps/sketch";
  const app = { name: "Sketch", starter_credits: 100, origins: [], daily_starter_budget: null };
  await send("PUT", sketch, { ...app, max_overage_percent: 50 });
  const redirect_uris = ["https://sketch.example.com/callback"];
  const settings = { name: "Sketch", redirect_uris, public: false };
  const { client_secret = "" } = await send("PUT", `${sketch}/clients/web`, settings);
  const uri = "https://mcp.sketch.example.com/mcp";
  await send("PUT", `${sketch}/resources/mcp`, { uri, scopes: ["draw"] });
  const { key = "" } = await send("POST", `${sketch}/keys`, { label: "server" });
  const { user_code, device_code } = await send("POST", "/device/start");
  await send("POST", "/device/complete", { user_code, scopes: ["admin"] });
  const { token = "" } = await send("GET", `/device/poll?device_code=${device_code}`);
  return { key, client_secret, admin_token: token };
}

async function findPython(): Promise<string> {
  const { stdout } = await run("python3", [
    "-c",
    "import sys; print(sys.version_info >= (3, 10))",
  ]).catch(() => ({ stdout: "" }));
  if (stdout.trim() === "True") return "python3";
  throw new Error(
    "python3 3.10 or newer is missing. The tests of clients/python need it: apt-get install python3",
  );
}
