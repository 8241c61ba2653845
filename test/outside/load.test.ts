/** The load itself, short. `npm run load` takes minutes, and then also compares times. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const OPTIONS = ["--accounts", "2000", "--rate", "20", "--seconds", "3"];

it(
  "under three times the sustained rate no accepted job is lost or doubled, and every response is a success or an orderly refusal",
  { tags: ["slow"], timeout: 15 * 60_000 },
  async () => {
    const { stdout } = await promisify(execFile)("npm", ["run", "-s", "load", "--", ...OPTIONS]);
    const floods = ["flood of one account", "the others meanwhile"];
    for (const phase of ["20/s", "overload", ...floods, "20/s again"]) {
      expect(stdout).toMatch(
        new RegExp(`^\\| ${phase} (\\| [\\d.]+ ){11}\\| \\d+ to \\d+ \\|$`, "m"),
      );
    }
    for (const state of ["awake", "asleep", "new"]) {
      expect(stdout).toMatch(new RegExp(`^\\| wallet \\| ${state} \\| \\d+ \\|`, "m"));
    }
    expect(stdout).toMatch(/sustained: \d+ requests a second/);
    expect(stdout).toMatch(/checked: \d+ accounts and \d+ jobs/);
    expect(stdout).toContain("every rule held");
  },
);
