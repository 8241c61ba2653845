/** docs/first-hour.md: its commands, as written, in an empty folder. */
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { freePort } from "../../../src/commands/local_worker.ts";
import { goThrough } from "../../worker/oauth/conformance/passbook_target.ts";
import { openVisitor } from "../../worker/oauth/conformance/visitor.ts";
import { familyOf, survivorsOf } from "../commands/processes.ts";
import { blocksOf, runShell } from "../support/guide.ts";
import { installPackage, type Installed } from "../support/installed.ts";

/** Commands that need the network. The set-up does the same without it. */
const INSTALLS = /^npm (?:init|install) .*$/gm;

let home: string;
let installed: Installed;

beforeAll(async () => {
  [home, installed] = await Promise.all([
    mkdtemp(join(tmpdir(), "passbook-hour-")),
    installPackage(),
  ]);
  for (const name of ["miniflare", "vitest"]) {
    await symlink(resolve("node_modules", name), join(installed.folder, "node_modules", name));
  }
}, 120_000);
afterAll(async () => {
  await installed?.remove();
  await rm(home, { recursive: true, force: true });
});

it(
  "the commands of docs/first-hour.md run as written",
  { tags: ["slow"], timeout: 240_000 },
  async () => {
    const [port, app_port] = [await freePort(), await freePort()];
    const written = blocksOf("docs/first-hour.md", "sh").join("");
    expect(written.match(INSTALLS)).toHaveLength(3);
    const commands = written
      .replaceAll(INSTALLS, "")
      .replace("passbook dev", `passbook dev --port ${port}`)
      .replaceAll("localhost:8787", `localhost:${port}`)
      .replaceAll("localhost:3000", `localhost:${app_port}`)
      .replace("PORT=3000", `PASSBOOK_URL=http://localhost:${port} PORT=${app_port}`)
      .replaceAll("/path/to/passbook", process.cwd());
    const env = { PATH: process.env["PATH"], HOME: home, XDG_CONFIG_HOME: home };
    const shell = runShell(commands, { cwd: installed.folder, env });
    const family = new Set<number>();
    try {
      const [, address = ""] = await shell.heard(/Open\s+(\S+)\s/);
      for (const pid of familyOf(shell.child.pid ?? 0)) family.add(pid);
      const visitor = openVisitor(`http://localhost:${port}`, fetch);
      await fetch(await goThrough(visitor, address, "ada@example.com"));
      await shell.done();
      await vi.waitFor(() => expect(survivorsOf([...family])).toEqual([]), 10_000);
    } finally {
      for (const pid of survivorsOf([...family])) process.kill(pid, "SIGKILL");
    }
    expect(shell.output()).not.toMatch(/readiness_check_failed|'\/readyz'/);
    for (const printed of [
      "done 976",
      '"progress":"5 of 5 frames"',
      "Python: 931",
      "Completed; 3 credits were charged. The balance is 928 credits.",
      "This token can spend 2 more credits, which does not cover 40.",
      "Refused, as it should be.",
      "To sign in again: passbook connect",
      "1 passed",
    ]) {
      expect(shell.output()).toContain(printed);
    }
  },
);
