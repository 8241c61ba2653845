/** The soak itself, short. `npm run soak` runs for 20 minutes, and then also compares memory and times. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const OPTIONS = ["--seconds", "10", "--kills", "2", "--accounts", "5"];

it(
  "every answered request is still there after workerd was killed, and every event arrives in order",
  { tags: ["slow"], timeout: 15 * 60_000 },
  async () => {
    const { stdout } = await promisify(execFile)("npm", ["run", "-s", "soak", "--", ...OPTIONS]);
    expect(stdout).toContain("kill 2: balances, jobs, ledgers and repeated keys are as answered");
    expect(stdout).toMatch(/2 kills; \d+ events of 5 accounts arrived in order/);
    expect(stdout).toContain("every rule held");
  },
);
