/** Files that are where they belong, and whole: a new file of `src/http` belongs in one of its folders. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";

const HTTP_FILES_MAX = 12;

it(`src/http has at most ${HTTP_FILES_MAX} files outside its folders`, () => {
  const files = execFileSync("git", ["ls-files", "--", "src/http"], { encoding: "utf8" })
    .split("\n")
    .filter((path) => /^src\/http\/[^/]+$/.test(path) && existsSync(path));
  expect(files.length).toBeGreaterThan(0);
  expect(files.length).toBeLessThanOrEqual(HTTP_FILES_MAX);
});

it("no file has the marks of a merge that somebody has to finish", () => {
  // `git grep` ends with 1 if it finds nothing.
  const search = ["grep", "--untracked", "-lE", "^(<{7}|>{7}) ", "--", "."];
  const found = spawnSync("git", search, { encoding: "utf8" });
  expect([found.status, found.stdout]).toEqual([1, ""]);
});
