/** `npm run trace`, with a log entry of a minified build that has a defect. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it, vi } from "vitest";
import { exitCode } from "../../../src/commands/local_worker.ts";
import { build, copySources, replaceIn } from "../flows/builds.ts";
import { openStage } from "../flows/stage.ts";
import { call, openWork } from "../flows/work_in_progress.ts";

const FOLDER = resolve(".wrangler/trace");
const DEFECT = "throw new RangeError(`a defect in ${request.job_id}`);";

afterAll(() => rm(FOLDER, { recursive: true, force: true }));

async function trace(input: string, ...args: readonly string[]) {
  const child = spawn("node", ["src/commands/run.js", "trace", ...args], { stdio: "pipe" });
  child.stdin.end(input);
  const [code, output, errors] = await Promise.all([
    exitCode(child),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, output, errors };
}

describe("npm run trace", () => {
  it(
    "npm run trace names the place in the source for an error that an object of a minified build threw",
    { tags: ["slow"] },
    async () => {
      const copy = copySources(FOLDER, null);
      const source = join(copy, "src/account/jobs/settle.ts");
      const before = "  const step = rules.complete(";
      replaceIn(source, before, `  ${DEFECT}\n${before}`);
      const bad = await build(copy);
      const stage = await openStage({ bad });
      try {
        await stage.release("bad");
        const { session, session_job } = await openWork(stage, "ada@example.com");
        const completion = { job_id: session_job, actual_cost: 4 };
        expect((await call(stage, session, "/api/jobs/complete", completion)).status).toBe(500);
        await vi.waitFor(() => expect(stage.log()).toMatch(/object_failed[^]*request_failed/));
        expect(stage.log()).not.toContain("a defect");
        const map = join(bad.bundle, "worker.js.map");
        const { code, output } = await trace(stage.log(), `--map=${map}`);
        expect(code).toBe(0);
        const line = readFileSync(source, "utf8")
          .split("\n")
          .findIndex((it) => it.includes(DEFECT));
        expect(output).toContain(`src/account/jobs/settle.ts:${line + 1}:`);
        expect(output).toContain(`[${DEFECT}]`);
        // A stack frame of the Worker's own code.
        expect(output).toContain("src/http/api/jobs/complete.ts:");
      } finally {
        await stage.close();
      }
    },
  );

  it("npm run trace refuses an input without a place of the bundle", { tags: "slow" }, async () => {
    const { code, errors } = await trace("TypeError: a text", "--map=package.json");
    expect(code).toBe(1);
    expect(errors).toContain('Paste the "stack" of a log entry.');
  });
});
