/** Completing `SIGNIN_PROVIDERS`: entries that name only an issuer get the endpoints that it publishes. */
import { discoverProvider } from "./discovery.ts";
import { readSecretFile, writeSecretFile } from "./secret_file.ts";
import { readLines, withLine } from "./setting_lines.ts";

export const PROVIDERS_SETTING = "SIGNIN_PROVIDERS";

type Entry = Readonly<Record<string, unknown>>;

/** The setting, and the ids of the providers whose endpoints were fetched for it. */
export interface CompletedProviders {
  readonly json: string;
  readonly ids: readonly string[];
}

/** Whether `npm run providers` would fetch anything. What cannot be read is left to the settings' check. */
export function needsDiscovery(json: unknown): boolean {
  return typeof json === "string" && entriesOf(json).some(lacksEndpoints);
}

/**
 * Fetches what entries lack. What they say already stays as it is.
 * @throws Error that names the provider, its address, and what to do
 */
export async function completeProviders(json: string): Promise<CompletedProviders> {
  const ids: string[] = [];
  const entries: unknown[] = [];
  for (const entry of entriesOf(json)) {
    if (!lacksEndpoints(entry)) {
      entries.push(entry);
      continue;
    }
    const id = String(entry["id"]);
    try {
      entries.push({ ...(await discoverProvider(String(entry["issuer"]))), ...entry });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${PROVIDERS_SETTING}, ${id}: ${reason}`, { cause: error });
    }
    ids.push(id);
  }
  return ids.length === 0 ? { json, ids } : { json: JSON.stringify(entries), ids };
}

/** The same in a file of `NAME=value` lines, which is written if anything was fetched. */
export async function completeFile(file: string): Promise<CompletedProviders | null> {
  const text = await readSecretFile(file);
  const json = text === null ? undefined : readLines(text)[PROVIDERS_SETTING];
  if (text === null || json === undefined) return null;
  const completed = await completeProviders(json);
  if (completed.ids.length > 0) {
    await writeSecretFile(file, withLine(text, PROVIDERS_SETTING, completed.json));
  }
  return completed;
}

/** The setting as it would be once completed, to check the rest of it without reaching anybody. */
export function withPlaceholders(json: string): string {
  const placeholder = "https://placeholder.invalid/";
  const endpoints = {
    authorization_endpoint: placeholder,
    token_endpoint: placeholder,
    userinfo_endpoint: placeholder,
    jwks_uri: placeholder,
    scope: "openid",
  };
  const completed = entriesOf(json).map((entry) =>
    lacksEndpoints(entry) ? { ...endpoints, ...entry } : entry,
  );
  return JSON.stringify(completed);
}

/** One sentence about what was fetched and where it is now. */
export function describeCompletion({ ids }: CompletedProviders, place: string): string {
  return `Fetched the endpoints of ${ids.join(", ")} from the issuer and wrote them into ${place}.`;
}

function lacksEndpoints(entry: unknown): entry is Entry {
  if (typeof entry !== "object" || entry === null || "preset" in entry) return false;
  const { issuer, authorization_endpoint, token_endpoint } = entry as Entry;
  return (
    typeof issuer === "string" &&
    (authorization_endpoint === undefined || token_endpoint === undefined)
  );
}

function entriesOf(json: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
