import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const COPY = join(".wrangler", "with_another_kind");
const TYPES = join(".wrangler", "types_for_ledger_kinds.d.ts");

/** The compiler's output for `src` with an additional kind of ledger entry; null if it compiles. */
function compile(kind: string | null): string | null {
  rmSync(COPY, { recursive: true, force: true });
  mkdirSync(COPY, { recursive: true });
  cpSync("src", join(COPY, "src"), { recursive: true });
  cpSync("drizzle", join(COPY, "drizzle"), { recursive: true });
  const ledger = join(COPY, "src/domain/ledger.ts");
  const source = readFileSync(ledger, "utf8");
  if (kind !== null) writeFileSync(ledger, source.replace('"debt",\n', `"debt",\n  "${kind}",\n`));
  const options = {
    extends: "../../tsconfig.json",
    include: ["src/account/sync/read_model_rows.ts"],
  };
  const types = { compilerOptions: { types: ["../types_for_ledger_kinds.d.ts"] } };
  writeFileSync(join(COPY, "tsconfig.json"), JSON.stringify({ ...options, ...types }));
  try {
    execFileSync("npx", ["tsc", "--noEmit", "-p", COPY], { encoding: "utf8", stdio: "pipe" });
    return null;
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout);
  }
}

// Generates its own types file, so that this test does not depend on another command.
beforeAll(() => {
  mkdirSync(".wrangler", { recursive: true });
  execFileSync("npx", ["wrangler", "types", TYPES], { stdio: "pipe" });
});
afterAll(() => {
  for (const path of [COPY, TYPES]) rmSync(path, { recursive: true, force: true });
});

describe("a kind of ledger entry without an effect on the read model", () => {
  it(
    "a ledger kind without an effect on the read model does not compile",
    { tags: ["slow"] },
    () => {
      expect(compile(null)).toBeNull();
      expect(compile("bonus")).toMatch(/read_model_rows\.ts.*TS2366/);
    },
  );
});
