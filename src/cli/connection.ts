/** The connection of `passbook connect`: its OAuth client, and its saved tokens. */
import { isPassbookError, PassbookError } from "../client/index.ts";
import {
  createOAuthClient,
  type Connection,
  type ConnectionTokens,
  type OAuthClient,
} from "../client/oauth/index.ts";
import { credentialsPath, readLogin, saveLogin, type SavedLogin } from "./credentials_file.ts";
import { withLock } from "./file_lock.ts";

/** The service serves this document of the command line's client itself. */
export const CLIENT_PATH = "/oauth/clients/command-line";

/** The path of the loopback address that the browser returns to. The port is a free one. */
export const CALLBACK_PATH = "/callback";

/** The command line as an OAuth client of the service at `url`. */
export function commandLineClient(url: string, port: number): OAuthClient {
  return createOAuthClient({
    baseUrl: url,
    clientId: `${url}${CLIENT_PATH}`,
    redirectUri: `http://127.0.0.1:${port}${CALLBACK_PATH}`,
  });
}

/** The connection of saved tokens. Only an authorization needs a port. */
export function connectionOf(
  url: string,
  tokens: ConnectionTokens,
  onTokens: (tokens: ConnectionTokens) => Promise<void> = async () => {},
): Connection {
  return commandLineClient(url, 0).connection(tokens, { onTokens });
}

/**
 * The saved login at a service. A saved token is sent only to the service that issued it.
 * @throws PassbookError `no_credentials`
 */
export async function savedLogin(url: string): Promise<SavedLogin & { readonly token: string }> {
  const login = await readLogin(credentialsPath(process.env));
  if (login !== null && login.token !== null && login.url === url) {
    return { ...login, token: login.token };
  }
  const message = `You are not signed in to ${url}. Run: passbook login --url ${url}`;
  throw new PassbookError("no_credentials", message);
}

/**
 * A valid token of the saved login. Renewed tokens are saved.
 * @throws PassbookError `no_credentials` if the connection has ended
 */
export async function savedToken(url: string): Promise<string> {
  return withSavedTokens(url, async ({ token }) => token);
}

/**
 * Runs `work` with a saved login whose tokens are valid. Meanwhile no other program renews them: an old refresh token that is
 * used again would end the connection.
 * @throws PassbookError `no_credentials` if the connection has ended
 */
export async function withSavedTokens<Value>(
  url: string,
  work: (login: SavedLogin & { readonly token: string }) => Promise<Value>,
): Promise<Value> {
  const login = await savedLogin(url);
  // A personal access token is not renewed.
  if (login.connection === null) return work(login);
  const path = credentialsPath(process.env);
  return beforeExit(() => withLock(path, async () => work(await renewed(path, url))));
}

async function renewed(
  path: string,
  url: string,
): Promise<SavedLogin & { readonly token: string }> {
  const login = await savedLogin(url);
  if (login.connection === null) return login;
  const save = (tokens: ConnectionTokens): Promise<void> =>
    saveLogin(path, { ...login, token: tokens.access_token, connection: tokens });
  const connection = connectionOf(url, login.connection, save);
  try {
    return { ...login, token: await connection.token(), connection: connection.tokens };
  } catch (error) {
    if (!isPassbookError(error, "invalid_grant")) throw error;
    const message = `${url} no longer accepts this machine's connection: ${error.message} Run: passbook connect --url ${url}`;
    throw new PassbookError("no_credentials", message, { cause: error });
  }
}

const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Completes `work` before a signal such as Ctrl-C ends the program; a second one ends it at once. A renewal whose tokens
 * are not saved leaves a refresh token that works for a day more, and only while none of the lost tokens is used.
 */
async function beforeExit<Value>(work: () => Promise<Value>): Promise<Value> {
  const received: NodeJS.Signals[] = [];
  const postpone = (signal: NodeJS.Signals): void => void received.push(signal);
  // A command that handles a signal itself is not ended by it.
  const signals = ENDING_SIGNALS.filter((signal) => process.listenerCount(signal) === 0);
  for (const signal of signals) process.once(signal, postpone);
  try {
    return await work();
  } finally {
    for (const signal of signals) process.off(signal, postpone);
    if (received[0] !== undefined) process.kill(process.pid, received[0]);
  }
}
