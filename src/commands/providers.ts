/**
 * `npm run -s providers [-- --file <file of NAME=value lines>]`
 *
 * Fetches the endpoints of each sign-in provider in `SIGNIN_PROVIDERS` that has only an issuer, and writes them into the
 * setting. Values are never arguments, which other users of a machine can read.
 */
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import {
  completeFile,
  completeProviders,
  describeCompletion,
  PROVIDERS_SETTING,
  type CompletedProviders,
} from "./provider_settings.ts";

const USAGE = `usage: npm run -s providers [-- --file <file of NAME=value lines>]
Without --file, ${PROVIDERS_SETTING} is read from standard input and the new value is written to standard output.`;

const { values: options } = parseArgs({
  options: { file: { type: "string" }, help: { type: "boolean", default: false } },
});

function report(completed: CompletedProviders, destination: string): void {
  console.error(
    completed.ids.length === 0
      ? `Every entry of ${PROVIDERS_SETTING} has its endpoints. To fetch them again, delete them from the entry.`
      : describeCompletion(completed, destination),
  );
}

async function main(): Promise<void> {
  if (options.help) {
    console.error(USAGE);
    return;
  }
  if (options.file !== undefined) {
    const completed = await completeFile(options.file);
    if (completed === null) {
      throw new Error(`${options.file} does not exist or has no line ${PROVIDERS_SETTING}=…`);
    }
    report(completed, options.file);
    return;
  }
  if (process.stdin.isTTY) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const json = (await text(process.stdin)).trim();
  if (!json.startsWith("[")) throw new Error(`Standard input is not a JSON array.\n${USAGE}`);
  const completed = await completeProviders(json);
  process.stdout.write(`${completed.json}\n`);
  report(completed, "standard output");
  console.error(
    `Next: npx wrangler secret put ${PROVIDERS_SETTING} < <the file with the new value>`,
  );
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
