/** Completes `SIGNIN_PROVIDERS`: an entry with only an issuer gets the endpoints that the issuer publishes. */
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

/** Whether an entry lacks its endpoints. False for an invalid value, which the check of the settings reports. */
export function needsDiscovery(json: unknown): boolean {
  return typeof json === "string" && entriesOf(json).some(lacksEndpoints);
}

/**
 * Fetches missing endpoints. Existing fields of an entry stay as they are.
 * @throws Error with the provider, its address, and what to do
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

/** Completes the setting in a file of `NAME=value` lines. */
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

/** The setting with placeholders for missing endpoints, so that a dry run can check the other fields. */
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

/** A sentence that names the completed providers and the file. */
export function describeCompletion({ ids }: CompletedProviders, file: string): string {
  return `Fetched the endpoints of ${ids.join(", ")} from the issuer and wrote them into ${file}.`;
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
