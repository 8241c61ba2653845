/** `npm run size`, run as a contributor runs it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);

it("npm run size starts the bundle and compares its start", { tags: "slow" }, async () => {
  const { stdout } = await run("npm", ["run", "-s", "size", "--", "--runs", "1"]);
  expect(stdout).toMatch(/Bundle: [\d.]+ KiB gzip, within the limit/);
  expect(stdout).toMatch(/Passbook .* ms to the first response/);
  expect(stdout).toMatch(/Start-up: [\d.]+ times a bare Hono Worker's/);
});
