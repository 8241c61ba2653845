/** `npm run size`, run as a contributor runs it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);

it(
  "npm run size compares the processor time of a start with its limit",
  { tags: "slow" },
  async () => {
    // On a busy machine a start may exceed its limit, which ends the command with 1. No test judges a time.
    const size = run("npm", ["run", "-s", "size", "--", "--runs", "3"]);
    const { stdout } = await size.catch((failed: { readonly stdout: string }) => failed);
    expect(stdout).toMatch(/Bundle: [\d.]+ KiB gzip, within the limit/);
    expect(stdout).toMatch(
      /Start: [\d.]+ times a bare Hono Worker's processor time, (within|OVER) the limit/,
    );
  },
);
