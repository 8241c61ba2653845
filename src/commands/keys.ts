/**
 * `npm run -s keys -- <create|rotate|add|promote|retire> <SIGNING_KEYS|ENCRYPTION_KEYS>`
 *
 * Reads the present value from standard input and prints the new one, or changes a file of
 * `NAME=value` lines in place (`--file .dev.vars`). Values are never arguments, which other users of
 * a machine can read.
 */
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import {
  KEY_CHANGES,
  KEY_SETTINGS,
  parseKeys,
  writeKeys,
  type Key,
  type KeyChange,
  type KeySetting,
} from "./key_sets.ts";
import { readSecretFile, writeSecretFile } from "./secret_file.ts";
import { readLines, withLine } from "./setting_lines.ts";

const USAGE = `usage: npm run -s keys -- <change> <setting> [--file <file of NAME=value lines>]
  change   create   a new set of one key (reads nothing)
           rotate   a fresh key in first place, the older ones kept
           add      a fresh key in last place: known before it is used
           promote  the last key moved to first place
           retire   only the first key kept
  setting  SIGNING_KEYS or ENCRYPTION_KEYS
Without --file the present value comes from standard input and the new one goes to standard output.`;

const ADVICE: Readonly<Record<KeySetting, Readonly<Record<KeyChange, string>>>> = {
  SIGNING_KEYS: {
    create: "Keep it where you keep secrets: it cannot be read back from Cloudflare.",
    rotate: "New tokens are signed with the new key; older ones stay valid.",
    add: "Wait ten minutes after deploying, so that every copy of the public keys has it; then promote.",
    promote:
      "New tokens are signed with this key; older ones stay valid. Retire the rest when they ran out.",
    retire: "Tokens signed with the keys dropped are refused from now on.",
  },
  ENCRYPTION_KEYS: {
    create: "Keep it where you keep secrets: without it the tokens held for users are lost.",
    rotate: "What is sealed with an older key is sealed anew when next used.",
    add: "Wait a minute after deploying, until it is everywhere; then promote.",
    promote: "What is sealed with an older key is sealed anew when next used.",
    retire: "Users whose tokens were not used since the rotation must connect again.",
  },
};

interface Request {
  readonly change: KeyChange;
  readonly setting: KeySetting;
  readonly file: string | null;
}

function readRequest(args: readonly string[]): Request | null {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { file: { type: "string" } },
    allowPositionals: true,
  });
  const [change = "", setting, ...rest] = positionals;
  const known = KEY_SETTINGS.find((name) => name === setting);
  if (known === undefined || rest.length > 0 || !Object.hasOwn(KEY_CHANGES, change)) return null;
  return { change: change as KeyChange, setting: known, file: values.file ?? null };
}

async function changed({ change, setting }: Request, json: string): Promise<readonly Key[]> {
  const before = change === "create" ? [] : parseKeys(setting, json);
  return KEY_CHANGES[change](setting, before);
}

/** Changes one line of a settings file and leaves the others as they are. */
async function changeFile(request: Request, file: string): Promise<readonly Key[]> {
  const lines = await readSecretFile(file);
  if (lines === null) throw new Error(`There is no file ${file}.`);
  const value = readLines(lines)[request.setting];
  if (value === undefined) throw new Error(`${file} has no line ${request.setting}=…`);
  const keys = await changed(request, value);
  await writeSecretFile(file, withLine(lines, request.setting, writeKeys(keys)));
  return keys;
}

/** Reports on standard error, so that standard output is the new value and nothing else. */
function report({ change, setting, file }: Request, keys: readonly Key[]): void {
  const ids = keys.map(({ kid }, place) => `  ${kid}${place === 0 ? " (in use)" : ""}`);
  console.error(`${setting} now has ${keys.length} key${keys.length === 1 ? "" : "s"}:`);
  console.error(ids.join("\n"));
  console.error(ADVICE[setting][change]);
  console.error(
    file === null
      ? `Next: npx wrangler secret put ${setting} < the file you saved this to`
      : "Next: restart `npm run dev`.",
  );
}

async function main(): Promise<void> {
  const request = readRequest(process.argv.slice(2));
  if (request === null) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  if (request.file !== null) {
    report(request, await changeFile(request, request.file));
    return;
  }
  const json = request.change === "create" ? "" : await text(process.stdin);
  const keys = await changed(request, json);
  process.stdout.write(`${writeKeys(keys)}\n`);
  report(request, keys);
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
