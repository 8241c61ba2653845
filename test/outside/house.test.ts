/** Sizes of files and folders, so that a reader finds one subject in one file. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const LINES_MAX = 400;
const LINES_MIN = 20;

/** Files of `src/http` that are not in one of its folders. */
const HTTP_FILES_MAX = 12;

/** Written by commands, so their length follows from their source. */
const GENERATED: readonly string[] = ["src/client/responses.ts"];

/** Shorter files, with the reason why each is not part of another file. */
const SHORT_FILES: Readonly<Record<string, string>> = {
  "src/account/contract/vault.ts":
    "the vault's part of the contract between the Worker and the object",
  "src/account/jobs/refused.ts": "one rule, used by three operations",
  "src/account/rpc/base.ts": "the base of the classes next to it",
  "src/client/resource/index.ts": "the entry of passbook-client/resource",
  "src/commands/assets.ts": "the program that Wrangler runs; tests import static_assets.ts",
  "src/commands/modules.d.ts": "only a declaration file can declare the types of a module",
  "src/commands/public_suffixes.ts": "the program; a test imports public_suffix_list.ts",
  "src/device/client.ts": "the room's client, like that of every object",
  "src/domain/back_off.ts": "one rule",
  "src/domain/oauth_scopes.ts": "one list, used by the metadata and the consent page",
  "src/http/api/admin/list_operators.ts": "one endpoint",
  "src/http/api/app/read.ts": "one endpoint",
  "src/http/api/jobs/cancel.ts": "one endpoint",
  "src/http/api/jobs/read.ts": "one endpoint",
  "src/http/api/payments/require_payments.ts": "the middleware of two endpoints",
  "src/http/api/personal_tokens/revoke.ts": "one endpoint",
  "src/http/api/service/jwks.ts": "one endpoint",
  "src/http/csv.ts": "one format, used by the API and the pages",
  "src/http/middleware/load_services.ts": "one middleware",
  "src/operations/time_limit.ts": "one rule, used by readiness and health",
  "src/tokens/own_token.ts": "the only part of the room that http may import",
  "src/web/account/data.ts": "one route",
  "src/web/account/data_section.tsx": "one section of a page",
  "src/web/layout/live.tsx": "one element of four pages",
  "src/web/console/operators.tsx": "one route",
  "src/web/layout/support.tsx": "one component of several pages",
  "src/web/scripts/copy.js": "one script that browsers load",
  "src/web/scripts/forms.js": "one script that browsers load",
  "src/web/signin/callback.ts": "one route",
};

const files = execFileSync("git", ["ls-files", "--", "src"], { encoding: "utf8" })
  .split("\n")
  .filter((path) => /\.(?:ts|tsx|js)$/.test(path) && existsSync(path))
  .map((path) => ({ path, lines: readFileSync(path, "utf8").split("\n").length - 1 }));

it(`no file of src has over ${LINES_MAX} lines, except generated ones`, () => {
  const long = files.filter(({ path, lines }) => lines > LINES_MAX && !GENERATED.includes(path));
  expect(long).toEqual([]);
  expect(files.length).toBeGreaterThan(200);
});

it(`a file of src with under ${LINES_MIN} lines is listed with its reason`, () => {
  const short = files.filter(({ lines }) => lines < LINES_MIN).map(({ path }) => path);
  expect(short.toSorted()).toEqual(Object.keys(SHORT_FILES).toSorted());
});

it(`src/http has at most ${HTTP_FILES_MAX} files outside its folders`, () => {
  const loose = files.filter(({ path }) => /^src\/http\/[^/]+$/.test(path));
  expect(loose.length).toBeLessThanOrEqual(HTTP_FILES_MAX);
});
