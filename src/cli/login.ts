/** `passbook login` and `passbook logout`. */
import { hostname } from "node:os";
import { createClient, isPassbookError, type PassbookClient } from "../client/index.ts";
import { openBrowser } from "./browser.ts";
import { credentialsPath, forgetLogin, readLogin, saveLogin } from "./credentials_file.ts";
import { plain, print, spin } from "./output.ts";
import { serviceUrl, type GlobalOptions } from "./session.ts";

export interface LoginOptions extends GlobalOptions {
  readonly name?: string;
  readonly browser: boolean;
}

/** Signs in by device login, and saves the token. Words for people go to stderr, JSON to stdout. */
export async function logIn(options: LoginOptions): Promise<void> {
  const url = await serviceUrl(options);
  const client = createClient({ baseUrl: url });
  const say = (text: string): void => void process.stderr.write(text);
  let stop = (): void => {};
  let token: string;
  try {
    token = await client.logInDevice({
      clientName: options.name ?? `passbook on ${hostname()}`.slice(0, 80),
      onCode: ({ user_code, verification_uri, verification_uri_complete }) => {
        say(`Open   ${plain(verification_uri)}\nEnter  ${plain(user_code)}\n`);
        if (options.browser && process.stdin.isTTY) openBrowser(verification_uri_complete);
        stop = spin(process.stderr, "Waiting for you to approve it in the browser …");
      },
    });
  } finally {
    stop();
  }
  await saveLogin(credentialsPath(process.env), { url, token });
  const who = await nameOf(createClient({ baseUrl: url, token }));
  if (options.json) process.stdout.write(`${JSON.stringify({ url, ...who })}\n`);
  else say(`Signed in to ${url}${who.email === null ? "" : ` as ${plain(who.email)}`}.\n`);
}

/** A token limited to some apps does not know its person. */
async function nameOf(client: PassbookClient) {
  try {
    const { identity_id, email } = await client.me();
    return { identity_id, email };
  } catch (error) {
    if (isPassbookError(error, "scope")) return { identity_id: null, email: null };
    throw error;
  }
}

/**
 * Revokes the saved token at the service, then forgets it. Kept where the service cannot be told; from a
 * damaged file nothing can be revoked, so it is only forgotten.
 */
export async function logOut(options: GlobalOptions): Promise<void> {
  const path = credentialsPath(process.env);
  const words = await endLogin(path);
  print(options, { ok: true }, () => words);
}

async function endLogin(path: string): Promise<string> {
  const login = await readLogin(path).catch((error: unknown) => {
    if (isPassbookError(error, "no_credentials")) return "damaged" as const;
    throw error;
  });
  if (login === null) return "You were not signed in.";
  if (login === "damaged") {
    await forgetLogin(path);
    return "The damaged file is deleted. Should a token be left, end it on the page /account.";
  }
  await revoke(createClient({ baseUrl: login.url, token: login.token }));
  await forgetLogin(path);
  return "Signed out; the token is revoked.";
}

async function revoke(client: PassbookClient): Promise<void> {
  try {
    const current = (await client.tokens.list()).find((token) => token.current);
    if (current !== undefined) await client.tokens.revoke(current.id);
  } catch (error) {
    // Already revoked, or run out: there is nothing left to end.
    if (!isPassbookError(error, "unauthorized")) throw error;
  }
}
