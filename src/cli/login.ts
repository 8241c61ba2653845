/** `passbook login` and `passbook logout`. */
import { hostname } from "node:os";
import { createAdmin } from "../client/admin/index.ts";
import {
  createClient,
  isPassbookError,
  PassbookError,
  type ClientOptions,
  type PassbookClient,
} from "../client/index.ts";
import { openBrowser } from "./browser.ts";
import { credentialsPath, deleteLogin, readLogin, saveLogin } from "./credentials_file.ts";
import { withLock } from "./file_lock.ts";
import { plain, print, spin } from "./output.ts";
import { replaceLogin, revokeLogin } from "./revocation.ts";
import { serviceUrl, type GlobalOptions } from "./session.ts";

export interface LoginOptions extends GlobalOptions {
  readonly name?: string;
  readonly browser: boolean;
  /** Whether to request a token that may operate the service. */
  readonly admin?: boolean;
}

/** Signs in by device login and saves the token. Text for people goes to stderr, JSON to stdout. */
export async function logIn(options: LoginOptions): Promise<void> {
  const url = await serviceUrl(options);
  const client = createClient({ baseUrl: url });
  const label = options.name ?? `passbook on ${hostname()}`.slice(0, 80);
  const say = (text: string): void => void process.stderr.write(text);
  let stop = (): void => {};
  let token: string;
  try {
    token = await client.logInDevice({
      clientName: label,
      onCode: ({ user_code, verification_uri, verification_uri_complete }) => {
        say(`Open   ${plain(verification_uri)}\nEnter  ${plain(user_code)}\n`);
        if (options.admin === true)
          say(`Tick   “${ADMIN_CHOICE}”, under “Change what it may do”\n`);
        if (options.browser && process.stdin.isTTY) openBrowser(verification_uri_complete);
        stop = spin(process.stderr, "Waiting for you to approve it in the browser …");
      },
    });
  } finally {
    stop();
  }
  await replaceLogin({ url, token, label, connection: null });
  if (options.admin === true) await expectOperator({ baseUrl: url, token });
  const person = await personOf(createClient({ baseUrl: url, token }));
  if (options.json) process.stdout.write(`${JSON.stringify({ url, ...person })}\n`);
  else say(`Signed in to ${url}${person.email === null ? "" : ` as ${plain(person.email)}`}.\n`);
}

/** The label of the checkbox on the page that approves a login. */
const ADMIN_CHOICE = "Let it operate the service as me";

/** @throws PassbookError if the token that was approved may not operate the service */
async function expectOperator(options: ClientOptions): Promise<void> {
  try {
    await createAdmin(options).listApps({ limit: 1 });
  } catch (error) {
    if (!isPassbookError(error, "not_operator") && !isPassbookError(error, "scope")) throw error;
    const message =
      "You are signed in, but this token may not operate the service: " +
      `only an operator can tick “${ADMIN_CHOICE}” while approving.`;
    throw new PassbookError(error.code, message, { cause: error });
  }
}

/** The signed-in person; unknown for a token that is limited to some apps. */
async function personOf(client: PassbookClient) {
  try {
    const { identity_id, email } = await client.me();
    return { identity_id, email };
  } catch (error) {
    if (isPassbookError(error, "scope")) return { identity_id: null, email: null };
    throw error;
  }
}

/**
 * Revokes the token at the service and deletes it from the file, even if the service cannot be reached. The file keeps
 * the service's address for the next login.
 * @throws PassbookError that says which token to revoke in the browser, if the service did not revoke it
 */
export async function logOut(options: GlobalOptions): Promise<void> {
  const path = credentialsPath(process.env);
  const text = await withLock(path, () => endLogin(path));
  print(options, { ok: true }, () => text);
}

async function endLogin(path: string): Promise<string> {
  const login = await readLogin(path).catch((error: unknown) => {
    if (isPassbookError(error, "no_credentials")) return "damaged" as const;
    throw error;
  });
  if (login === "damaged") {
    await deleteLogin(path);
    return "The damaged file is deleted. Revoke its token on the service's page /account/access.";
  }
  if (login === null || login.token === null) return "You were not signed in on this machine.";
  const { url, token, label, connection } = login;
  const again = connection === null ? "login" : "connect";
  const failure = await revokeLogin({ ...login, token });
  await saveLogin(path, { url, token: null, label: null, connection: null });
  if (failure === null)
    return `Signed out of ${url}; the token is revoked. To sign in again: passbook ${again}`;
  const which = label === null ? "the token" : `the token “${label}”`;
  const message =
    `The token is deleted on this machine, but ${url} did not revoke it. ` +
    `Revoke ${which} on ${url}/account/access. The reason: ${failure.message}`;
  throw new PassbookError(failure.code, message, { status: failure.status ?? undefined });
}
