/** Secrets of a deployment: which are missing, drawing them, and the file that keeps them. */
import { createInterface } from "node:readline/promises";
import { GENERATED_SECRETS } from "./deploy_plan.ts";
import { readSecretFile, writeSecretFile } from "./secret_file.ts";
import { readLines, withLine } from "./setting_lines.ts";
import { runWrangler } from "./wrangler_run.ts";

/** The file that is offered; git-ignored. */
export const SECRETS_FILE = "passbook-secrets.vars";

export type Secrets = Readonly<Record<string, string>>;

/** Reads a file of `NAME='value'` lines, as `.dev.vars` is one; nothing where there is none. */
export async function readSecrets(file: string | null): Promise<Secrets> {
  if (file === null) return {};
  return readLines((await readSecretFile(file)) ?? "");
}

/** Names of the secrets that Cloudflare keeps for a Worker; none where there is no such Worker yet. */
export async function listSecrets(config_file: string): Promise<readonly string[]> {
  const args = ["secret", "list", "--format=json", `--config=${config_file}`];
  const { succeeded, output, complaint } = await runWrangler(args);
  if (!succeeded && /Worker ".*" not found/.test(complaint)) return [];
  if (!succeeded) throw new Error(complaint);
  const secrets = JSON.parse(output.slice(Math.max(output.indexOf("["), 0)));
  return (secrets as { name: string }[]).map(({ name }) => name);
}

/** What is to be set: what the file has and Cloudflare lacks, and fresh values for what both lack. */
export async function drawMissing(present: readonly string[], kept: Secrets) {
  const from_file = Object.entries(kept).filter(([name]) => !present.includes(name));
  const drawn: [string, string][] = [];
  for (const [name, draw] of Object.entries(GENERATED_SECRETS)) {
    if (!present.includes(name) && kept[name] === undefined) drawn.push([name, await draw()]);
  }
  return { from_file: Object.fromEntries(from_file), drawn: Object.fromEntries(drawn) };
}

/** Sets secrets in a file that only its owner may read, before they are used anywhere. */
export async function keepSecrets(file: string, secrets: Secrets): Promise<void> {
  let text = (await readSecretFile(file)) ?? "";
  for (const [name, value] of Object.entries(secrets)) text = withLine(text, name, value);
  await writeSecretFile(file, text);
}

/** Asks where new secrets are to be kept; null: nowhere. Only on a terminal. */
export async function askWhereToKeep(): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(
      `New secrets are about to be made, and Cloudflare never shows them again. Keep them in ` +
        `${SECRETS_FILE}, readable by you alone? [Y/n] `,
    );
    return /^n/i.test(answer.trim()) ? null : SECRETS_FILE;
  } finally {
    terminal.close();
  }
}
