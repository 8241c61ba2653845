/** Runs the tests of the Python client (clients/python/tests) against a Worker. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  DEVELOPMENT_OPERATOR,
  developmentSettings,
} from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { startTestWorker } from "../support/test_worker.ts";

const run = promisify(execFile);

let directory: string;
let worker: LocalWorker;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "passbook-python-"));
  const env_file = join(directory, "settings.env");
  const port = await freePort();
  // Tokens are valid at the address of the tests' proxy too.
  const base_url = `BASE_URL=http://localhost:${port}`;
  await writeFile(env_file, (await developmentSettings()).replace("BASE_URL=", base_url));
  worker = await startTestWorker({ port, persist_to: join(directory, "state"), env_file });
});

afterAll(async () => {
  await worker?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** The key of a new app, whose jobs may cost half more than their estimate. */
async function registerApp(): Promise<string> {
  const body = new URLSearchParams({ email: DEVELOPMENT_OPERATOR });
  const signed_in = await fetch(`${worker.url}/signin/dev`, {
    method: "POST",
    body,
    redirect: "manual",
  });
  const cookies = signed_in.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  const send = async (method: string, path: string, content: object): Promise<{ key?: string }> => {
    const response = await fetch(`${worker.url}/api/admin/apps/sketch${path}`, {
      method,
      headers: {
        Cookie: cookies.join("; "),
        Origin: worker.url,
        "Content-Type": "application/json",
        "Idempotency-Key": crypto.randomUUID(),
      },
      body: JSON.stringify(content),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as { key?: string };
  };
  const app = { name: "Sketch", starter_credits: 0, origins: [], daily_starter_budget: 0 };
  await send("PUT", "", { ...app, max_overage_percent: 50 });
  return (await send("POST", "/keys", { label: "server" })).key ?? "";
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

it("the Python client keeps its promises against a running service, also over a faulty network", async () => {
  const python = await findPython();
  const PASSBOOK_APP_KEY = await registerApp();
  const env = {
    PATH: process.env["PATH"],
    PYTHONPATH: "clients/python",
    PYTHONDONTWRITEBYTECODE: "1",
    PASSBOOK_URL: worker.url,
    PASSBOOK_APP_KEY,
  };
  // Warnings are errors, such as a connection that is not closed.
  const args = ["-W", "error", "-m", "unittest", "discover", "-s", "clients/python/tests"];
  const { stderr } = await run(python, args, { env });
  expect(stderr).toMatch(/Ran \d\d tests in .*\n\nOK\n$/);
});
