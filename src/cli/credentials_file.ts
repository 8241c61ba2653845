/** The file with the command line's token, in the user's configuration folder with mode 0600. */
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { PassbookError } from "../client/index.ts";
import type { ConnectionTokens } from "../client/oauth/index.ts";
import { isAddress } from "./address.ts";

export interface SavedLogin {
  /** The service's origin. The token is sent to no other. */
  readonly url: string;
  /** Null after logout, which keeps `url` for the next login. */
  readonly token: string | null;
  /** The token's name in the service's list of tokens; null if the file does not have it. */
  readonly label: string | null;
  /** Tokens of `passbook connect`, whose access token is `token`; null for those of `passbook login`. */
  readonly connection: ConnectionTokens | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The path of the file: in `XDG_CONFIG_HOME`, on Windows in `APPDATA`, otherwise in `~/.config`. */
export function credentialsPath(environment: Environment): string {
  const { XDG_CONFIG_HOME, APPDATA } = environment;
  const windows = process.platform === "win32" ? APPDATA : undefined;
  const folder = XDG_CONFIG_HOME || windows || join(homedir(), ".config");
  return join(folder, "passbook", "credentials.json");
}

/**
 * The saved login; null without a file.
 * @throws PassbookError `no_credentials` if the file is damaged
 */
export async function readLogin(path: string): Promise<SavedLogin | null> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return null;
  const value = parse(text);
  const { url, token = null, label = null, connection = null } = value ?? {};
  const is_text = (it: unknown) => it === null || typeof it === "string";
  const is_valid = is_text(token) && is_text(label) && isConnection(connection);
  if (typeof url === "string" && isAddress(url) && is_valid) {
    return { url, token, label, connection };
  }
  const message = `${path} is damaged. Run: passbook logout, then: passbook login`;
  throw new PassbookError("no_credentials", message);
}

function isConnection(value: unknown): boolean {
  if (value === null) return true;
  const { access_token, expires_at, refresh_token, scopes } = value as Record<string, unknown>;
  const texts = [access_token, expires_at, refresh_token ?? ""];
  return texts.every((text) => typeof text === "string") && Array.isArray(scopes);
}

function parse(text: string): Partial<SavedLogin> | null {
  try {
    return JSON.parse(text) as Partial<SavedLogin> | null;
  } catch {
    return null;
  }
}

/** Replaces the saved login atomically. Other users cannot read the file at any time. */
export async function saveLogin(path: string, login: SavedLogin): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}`;
  await rm(fresh, { force: true });
  await writeFile(fresh, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  await chmod(fresh, 0o600);
  await rename(fresh, path);
}

/** Deletes the file. */
export async function deleteLogin(path: string): Promise<void> {
  await rm(path, { force: true });
}
