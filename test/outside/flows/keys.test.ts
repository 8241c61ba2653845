/** `npm run keys`, run as an operator runs it. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { exitCode } from "../../../src/commands/local_worker.ts";
import { readConfig } from "../../../src/config/config.ts";

const SETTINGS = ["SIGNING_KEYS", "ID_TOKEN_KEYS", "ENCRYPTION_KEYS"];

let directory: string;
/** A new key set for each setting. */
let created: Readonly<Record<string, string>>;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "passbook-keys-"));
  created = Object.fromEntries(
    await Promise.all(
      SETTINGS.map(async (setting) => [setting, (await keys(["create", setting])).output] as const),
    ),
  );
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Run {
  readonly code: number;
  readonly output: string;
  readonly report: string;
}

async function keys(args: readonly string[], input = ""): Promise<Run> {
  const child = spawn("node", ["src/commands/keys.ts", ...args], { stdio: "pipe" });
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [code, output, report] = await Promise.all([
    exitCode(child),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, output, report };
}

const kids = (json: string): string[] =>
  (JSON.parse(json) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);

/** The private parts of a key set. */
const secrets = (json: string): string[] =>
  (JSON.parse(json) as { keys: { d?: string; k?: string }[] }).keys.map(
    (key) => key.d ?? key.k ?? "",
  );

describe.each(SETTINGS)("npm run keys, for %s", (setting) => {
  it("npm run keys creates, rotates and retires keys, and the service reads each value", async () => {
    const first = await keys(["create", setting]);
    const rotated = await keys(["rotate", setting], first.output);
    expect(kids(rotated.output)).toHaveLength(2);
    expect(kids(rotated.output).slice(1)).toEqual(kids(first.output));
    expect(new Set(kids(rotated.output)).size).toBe(2);
    const retired = await keys(["retire", setting], rotated.output);
    expect(kids(retired.output)).toEqual(kids(rotated.output).slice(0, 1));
    for (const { code, output, report } of [first, rotated, retired]) {
      expect(code).toBe(0);
      const settings = { DEV_SIGNIN: "true", ...created, [setting]: output };
      expect(readConfig(settings).ok).toBe(true);
      expect(report).toContain(`npx wrangler secret put ${setting}`);
      for (const secret of secrets(output)) expect(report).not.toContain(secret);
    }
  });

  it("npm run keys adds a key before it is used and then promotes it", async () => {
    const first = created[setting];
    const { output: added } = await keys(["add", setting], first);
    expect(kids(added)[0]).toBe(kids(first ?? "")[0]);
    const { output: promoted } = await keys(["promote", setting], added);
    expect(kids(promoted)).toEqual(kids(added).toReversed());
  });

  it("npm run keys changes only its own line of a settings file", async () => {
    const file = join(directory, `${setting}.vars`);
    const before = await developmentSettings();
    await writeFile(file, before, { mode: 0o644 });
    const { code, output } = await keys(["rotate", setting, "--file", file]);
    expect({ code, output }).toEqual({ code: 0, output: "" });
    const after = await readFile(file, "utf8");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const others = (settings: string): string[] =>
      settings.split("\n").filter((line) => !line.startsWith(`${setting}=`));
    expect(others(after)).toEqual(others(before));
    const line = after.split("\n").find((it) => it.startsWith(`${setting}=`)) ?? "";
    expect(kids(line.slice(setting.length + 2, -1))).toHaveLength(2);
  });

  it("npm run keys does not write through a symbolic link", async () => {
    const file = join(directory, `${setting}.target`);
    const link = join(directory, `${setting}.link`);
    const before = await developmentSettings();
    await writeFile(file, before, { mode: 0o600 });
    await symlink(file, link);
    const { code, report } = await keys(["rotate", setting, "--file", link]);
    expect(code).toBe(1);
    expect(report).toContain(`${link} is a symbolic link`);
    expect(await readFile(file, "utf8")).toBe(before);
  });

  it("npm run keys refuses an invalid key set and does not print it", async () => {
    const other = setting === "SIGNING_KEYS" ? "ENCRYPTION_KEYS" : "SIGNING_KEYS";
    const wrong_kind = created[other] ?? "";
    for (const input of [
      "",
      "secret words",
      '{"keys":[]}',
      '{"keys":[{"k":"secret"}]}',
      wrong_kind,
    ]) {
      const { code, output, report } = await keys(["rotate", setting], input);
      expect({ code, output }).toEqual({ code: 1, output: "" });
      expect(report).toContain(setting);
      expect(report).not.toContain("secret");
      for (const secret of input === wrong_kind ? secrets(wrong_kind) : []) {
        expect(report).not.toContain(secret);
      }
    }
  });
});

it("npm run keys without arguments prints its usage", async () => {
  for (const args of [[], ["rotate"], ["explode", "SIGNING_KEYS"], ["rotate", "BASE_URL"]]) {
    const { code, report } = await keys(args);
    expect(code).toBe(2);
    expect(report).toContain("usage: npm run -s keys");
  }
});
