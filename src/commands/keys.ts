/**
 * `npm run -s keys -- <create|rotate|add|promote|retire> <SIGNING_KEYS|ID_TOKEN_KEYS|ENCRYPTION_KEYS>`
 *
 * Reads the current value from standard input and prints the new one, or changes a file of `NAME=value` lines
 * (`--file .dev.vars`). Values are never arguments, which other users of a machine can read.
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
  change   create   a new key set with one key (reads no input)
           rotate   adds a new first key and keeps the older ones
           add      adds a new last key, which is known before it is used
           promote  makes the last key the first
           retire   removes all keys but the first
  setting  SIGNING_KEYS, ID_TOKEN_KEYS or ENCRYPTION_KEYS
Without --file, the current value is read from standard input and the new one is written to standard output.`;

const ADVICE: Readonly<Record<KeySetting, Readonly<Record<KeyChange, string>>>> = {
  SIGNING_KEYS: {
    create: "Store it in your password store: Cloudflare never shows it again.",
    rotate: "New tokens are signed with the new key; older tokens stay valid.",
    add: "After deploying, wait ten minutes, so that every cached copy of the public keys has it. Then promote.",
    promote:
      "New tokens are signed with this key; older tokens stay valid. Retire the other keys when those have expired.",
    retire: "Tokens signed with the removed keys are refused from now on.",
  },
  ID_TOKEN_KEYS: {
    create: "Store it in your password store: Cloudflare never shows it again.",
    rotate: "New ID tokens are signed with the new key. Clients fetch it when they see its id.",
    add: "After deploying, wait ten minutes, so that every cached copy of the public keys has it. Then promote.",
    promote:
      "New ID tokens are signed with this key. Retire the other keys after ten minutes, when the older ID tokens have expired.",
    retire: "ID tokens signed with the removed keys cannot be verified any more.",
  },
  ENCRYPTION_KEYS: {
    create:
      "Store it in your password store: without it, the stored upstream tokens of users are lost.",
    rotate: "Data encrypted with an older key is encrypted again when it is next used.",
    add: "After deploying, wait a minute, until every copy of the Worker has it. Then promote.",
    promote: "Data encrypted with an older key is encrypted again when it is next used.",
    retire: "Users whose upstream tokens were not used since the rotation must connect again.",
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
  if (lines === null) throw new Error(`The file ${file} does not exist.`);
  const value = readLines(lines)[request.setting];
  if (value === undefined)
    throw new Error(
      `${file} has no line ${request.setting}=…. Create one with: npm run -s keys -- create ${request.setting}`,
    );
  const keys = await changed(request, value);
  await writeSecretFile(file, withLine(lines, request.setting, writeKeys(keys)));
  return keys;
}

/** Reports on standard error, so that standard output has only the new value. */
function report({ change, setting, file }: Request, keys: readonly Key[]): void {
  const ids = keys.map(({ kid }, index) => `  ${kid}${index === 0 ? " (in use)" : ""}`);
  console.error(`${setting} now has ${keys.length} key${keys.length === 1 ? "" : "s"}:`);
  console.error(ids.join("\n"));
  console.error(ADVICE[setting][change]);
  console.error(
    file === null
      ? `Next: npx wrangler secret put ${setting} < <the file with the new value>`
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
