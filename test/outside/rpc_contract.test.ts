/**
 * For some minutes after a deployment, the new Worker calls objects of the previous release, and the other way round.
 * So the contract between them may only gain methods and optional fields.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copySources, releasedRevision, replaceIn } from "./flows/builds.ts";

const FOLDER = join(".wrangler", "rpc_contract");
const TYPES = join(FOLDER, "runtime.d.ts");

/** Refusals are excluded, because the Worker responds with 503 to an unknown one. */
const CHECK = `
import type { AccountOperations as Released } from "./released/src/account/operations.ts";
import type { AccountOperations as Changed } from "./changed/src/account/operations.ts";

type Accepted<Response> = Response extends { readonly ok: true; readonly value: infer Value }
  ? Value
  : Response extends { readonly ok: false } ? never : Response;
type Call<Method> = Method extends (...parameters: infer Parameters) => infer Response
  ? { parameters: Parameters; response: Accepted<Awaited<Response>> }
  : never;
type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;
type Problems = {
  [Name in keyof Released as Name extends keyof Changed
    ? Same<Call<Released[Name]>, Call<Changed[Name]>> extends true ? never : Name
    : Name]: true;
};
const problems: Problems = {};
export { problems };
`;

/** The compiler's message about methods that break one of the two directions, or null. */
function compare(change?: (folder: string) => void): string | null {
  const changed = copySources(join(FOLDER, "changed"), null);
  change?.(changed);
  writeFileSync(join(FOLDER, "check.ts"), CHECK);
  const compilerOptions = { types: ["./runtime.d.ts"], noEmit: true };
  const config = {
    extends: "../../tsconfig.json",
    compilerOptions,
    include: ["check.ts"],
    exclude: [],
  };
  writeFileSync(join(FOLDER, "tsconfig.json"), JSON.stringify(config));
  try {
    execFileSync("npx", ["tsc", "-p", FOLDER], { encoding: "utf8", stdio: "pipe" });
    return null;
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout);
  }
}

beforeAll(() => {
  mkdirSync(FOLDER, { recursive: true });
  execFileSync("npx", ["wrangler", "types", TYPES], { stdio: "pipe" });
  copySources(join(FOLDER, "released"), releasedRevision());
});
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

describe("the RPC contract", { tags: ["slow"], timeout: 120_000 }, () => {
  it("calls between the Worker and accounts work in both directions with the newest release", () => {
    expect(compare()).toBeNull();
  });

  it("a field that may be left out, and a new method, are no breaking change", () => {
    const found = compare((folder) => {
      const jobs = join(folder, "src/account/contract/jobs.ts");
      replaceIn(
        jobs,
        "  readonly action: string;",
        "  readonly action: string;\n  readonly added?: string;",
      );
      const operations = join(folder, "src/account/operations.ts");
      const table = "export const OPERATIONS = {";
      replaceIn(operations, table, `${table}\n  added: () => "",`);
    });
    expect(found).toBeNull();
  });

  it.each([
    [
      "a required field of a request",
      "  readonly action: string;",
      "  readonly action: string;\n  readonly added: string;",
    ],
    [
      "a field of a request with another type",
      "  readonly action: string;",
      "  readonly action: number;",
    ],
    [
      "a field of a response that is gone",
      "  readonly job_id: string;\n  readonly credits: number | null;",
      "  readonly job_id: string;",
    ],
  ])("%s is a breaking change", (_, part, replacement) => {
    const found = compare((folder) =>
      replaceIn(join(folder, "src/account/contract/jobs.ts"), part, replacement),
    );
    expect(found).toMatch(/createJob/);
  });

  it("a method that is gone is a breaking change", () => {
    const found = compare((folder) =>
      replaceIn(
        join(folder, "src/account/operations.ts"),
        "  readProfile: ",
        "  readProfileLater: ",
      ),
    );
    expect(found).toMatch(/readProfile/);
  });
});
