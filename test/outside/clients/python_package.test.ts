/** The wheel of the Python client: it is built and installed without a download, and has the whole package. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";

const run = promisify(execFile);

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "passbook-wheel-"))));
afterEach(() => rm(folder, { recursive: true, force: true }));

const OFFLINE = ["--no-deps", "--no-index", "--no-cache-dir", "--disable-pip-version-check"];

it("the wheel of the Python client is built and installed offline, and an installed client works", async () => {
  const source = "clients/python";
  await run("python3", ["-m", "pip", "wheel", ...OFFLINE, "-w", folder, source]);
  const [wheel = ""] = await readdir(folder);
  expect(wheel).toBe("passbook_client-0.1.0-py3-none-any.whl");
  const site = join(folder, "site");
  await run("python3", ["-m", "pip", "install", ...OFFLINE, "--target", site, join(folder, wheel)]);
  const modules = (await readdir(join(source, "passbook_client"))).filter((it) => it.includes("."));
  expect(await readdir(join(site, "passbook_client"))).toEqual(expect.arrayContaining(modules));
  const program = `
import importlib.metadata, passbook_client
print(passbook_client.__file__.startswith(${JSON.stringify(site)}))
print(importlib.metadata.version("passbook-client"))
passbook_client.PassbookClient("https://passbook.example.com", token="t")
`;
  const env = { PATH: process.env["PATH"], PYTHONPATH: site, PYTHONDONTWRITEBYTECODE: "1" };
  const { stdout } = await run("python3", ["-c", program], { cwd: folder, env });
  expect(stdout).toBe("True\n0.1.0\n");
});
