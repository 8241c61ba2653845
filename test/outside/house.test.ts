/** The rooms of `src/http`: a new file belongs in one of its folders. */
import { execFileSync } from "node:child_process";
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
