/** The connection of `passbook connect`: its OAuth client, and its saved tokens. */
import {
  createOAuthClient,
  type Connection,
  type ConnectionTokens,
  type OAuthClient,
} from "../client/oauth/index.ts";
import { credentialsPath, saveLogin, type SavedLogin } from "./credentials_file.ts";

/** The service knows the command line's client by this address, and shows its name without fetching it. */
const CLIENT_PATH = "/oauth/clients/command-line";

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

/** The connection of a saved login. Renewed tokens are saved. */
export function savedConnection(login: SavedLogin, connection: ConnectionTokens): Connection {
  const path = credentialsPath(process.env);
  return connectionOf(login.url, connection, (tokens) =>
    saveLogin(path, { ...login, token: tokens.access_token, connection: tokens }),
  );
}
