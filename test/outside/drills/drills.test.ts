/** Runs every drill of docs/drills.md as written, in a copy of the repository, and compares the output with the page. */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exitCode } from "../../../src/commands/local_worker.ts";

const CHECKED_IN = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
/** Each drill starts the server up to five times. */
const SLOW = { tags: ["slow"], timeout: 300_000 };

interface Drill {
  readonly title: string;
  readonly commands: string;
  /** What the output has, in this order; `…` stands for any text. */
  readonly lines: readonly string[];
}

const page = readFileSync("docs/drills.md", "utf8");
const [preparation = "", ...sections] = page.split(/^## /m);

const drills = sections.map((section): Drill => {
  const blocks = (language: string): string =>
    [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "gm"))]
      .map(([, block = ""]) => block)
      .join("");
  const lines = blocks("text").split("\n");
  return {
    title: section.split("\n")[0] ?? "",
    commands: blocks("sh"),
    lines: lines.filter((line) => line !== ""),
  };
});

/** The lines of the preparation that are not about making the copy. */
const prepare = [...preparation.matchAll(/^(?:source|reset|serve|operate)\b[^#\n]*/gm)].map(
  ([line]) => line,
);

let folder = "";
let copy = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "passbook-drills-"));
  copy = join(folder, "passbook");
  const files = execFileSync("git", CHECKED_IN, { encoding: "utf8" }).split("\0");
  for (const file of files.filter((it) => it !== "" && existsSync(it))) {
    mkdirSync(join(copy, dirname(file)), { recursive: true });
    cpSync(file, join(copy, file));
  }
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=drill", "-c", "user.email=drill@example.com", ...args], {
      cwd: copy,
    });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "the release before");
  writeFileSync(join(copy, ".drills"), "");
  symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/**
 * A drill stops and starts its service, so that its port is free in between. The system gives ports below 32768 to nobody by
 * itself, so no other test gets this one.
 */
const PORT = 18_000 + (process.pid % 10_000);

describe("docs/drills.md", SLOW, () => {
  it.each(drills.map((drill) => [drill.title, drill] as const))(
    "the drill “%s” has the output that the page shows",
    async (_, drill) => {
      const script = [...prepare, drill.commands, "stop"].join("\n");
      const shell = spawn("bash", ["-c", `trap stop EXIT\n${script}`], {
        cwd: copy,
        env: { ...process.env, PASSBOOK_URL: `http://localhost:${PORT}` },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let said = "";
      shell.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
      shell.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
      await exitCode(shell);
      let rest = said;
      for (const line of drill.lines) {
        const found = patternOf(line).exec(rest);
        expect(found, `“${line}” is missing in this output:\n${said}`).not.toBeNull();
        rest = rest.slice((found?.index ?? 0) + (found?.[0].length ?? 0));
      }
    },
  );
});

function patternOf(line: string): RegExp {
  const parts = line.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "m");
}
