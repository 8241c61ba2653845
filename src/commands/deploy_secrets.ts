/** The secrets of a deployment: which ones are missing, and the file that stores new ones. */
import { createInterface } from "node:readline/promises";
import { GENERATED_SECRETS } from "./deploy_plan.ts";
import { readSecretFile, writeSecretFile } from "./secret_file.ts";
import { readLines, withLine } from "./setting_lines.ts";
import { runWrangler } from "./wrangler_run.ts";

/** The suggested file. Git ignores it. */
export const SECRETS_FILE = "passbook-secrets.vars";

export type Secrets = Readonly<Record<string, string>>;

/** Reads a file of `NAME='value'` lines; empty without a file. */
export async function readSecrets(file: string | null): Promise<Secrets> {
  if (file === null) return {};
  return readLines((await readSecretFile(file)) ?? "");
}

/** Names of the secrets that Cloudflare has for a Worker; empty if the Worker does not exist yet. */
export async function listSecrets(config_file: string): Promise<readonly string[]> {
  const args = ["secret", "list", "--format=json", `--config=${config_file}`];
  const { succeeded, output, error } = await runWrangler(args);
  if (!succeeded && /Worker ".*" not found/.test(error)) return [];
  if (!succeeded) throw new Error(error);
  const secrets = JSON.parse(output.slice(Math.max(output.indexOf("["), 0)));
  return (secrets as { name: string }[]).map(({ name }) => name);
}

/** Secrets that Cloudflare lacks: those that the file supplies, and new values for required ones. */
export async function missingSecrets(present: readonly string[], from_file: Secrets) {
  const supplied = Object.entries(from_file).filter(([name]) => !present.includes(name));
  const generated: [string, string][] = [];
  for (const [name, generate] of Object.entries(GENERATED_SECRETS)) {
    if (!present.includes(name) && from_file[name] === undefined) {
      generated.push([name, await generate()]);
    }
  }
  return { supplied: Object.fromEntries(supplied), generated: Object.fromEntries(generated) };
}

/** Stores secrets in a file that only its owner can read. Done before they are used, so that none is lost. */
export async function storeSecrets(file: string, secrets: Secrets): Promise<void> {
  let text = (await readSecretFile(file)) ?? "";
  for (const [name, value] of Object.entries(secrets)) text = withLine(text, name, value);
  await writeSecretFile(file, text);
}

/** Asks on the terminal whether to store new secrets in a file; null if not. */
export async function promptForSecretsFile(): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(
      `New secrets will be generated, and Cloudflare never shows them again. Store them in ` +
        `${SECRETS_FILE}, readable only by you? [Y/n] `,
    );
    return /^n/i.test(answer.trim()) ? null : SECRETS_FILE;
  } finally {
    terminal.close();
  }
}
