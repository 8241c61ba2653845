/** Revokes saved tokens: at logout, and when a new login replaces them. */
import { createClient, isPassbookError, PassbookError } from "../client/index.ts";
import { connectionOf } from "./connection.ts";
import { credentialsPath, readLogin, saveLogin, type SavedLogin } from "./credentials_file.ts";
import { withLock } from "./file_lock.ts";
import { plain } from "./output.ts";

type SignedInLogin = SavedLogin & { readonly token: string };

/** A person waits for it, and can also revoke the token in the browser. */
const RETRIES = 1;

/**
 * Saves a new login, and then revokes the tokens that it replaces: nobody holds them any more. If the service does not
 * revoke them, a hint on stderr says where the person can.
 */
export async function replaceLogin(login: SignedInLogin): Promise<void> {
  const path = credentialsPath(process.env);
  // Otherwise a program that renews the previous tokens could overwrite the new ones.
  const previous = await withLock(path, async () => {
    const found = await readLogin(path).catch((error: unknown) => {
      // A damaged file is replaced.
      if (isPassbookError(error, "no_credentials")) return null;
      throw error;
    });
    await saveLogin(path, login);
    return found;
  });
  if (previous === null || previous.token === null) return;
  const failure = await revokeLogin({ ...previous, token: previous.token });
  if (failure === null) return;
  const which = previous.label === null ? "The token" : `The token “${plain(previous.label)}”`;
  process.stderr.write(
    `${which}, which this replaces, was not revoked: ${plain(failure.message)}\n` +
      `Revoke it on ${previous.url}/account/access.\n`,
  );
}

/** The service's error; null if the tokens have ended. */
export async function revokeLogin(login: SignedInLogin): Promise<PassbookError | null> {
  try {
    await revoke(login);
    return null;
  } catch (error) {
    if (!(error instanceof PassbookError)) throw error;
    // The token was revoked before, or it has expired.
    return error.code === "unauthorized" ? null : error;
  }
}

async function revoke({ url, token, connection }: SignedInLogin): Promise<void> {
  if (connection !== null) return connectionOf(url, connection).revoke();
  const { tokens } = createClient({ baseUrl: url, token, retries: RETRIES });
  const current = (await tokens.list()).find((listed) => listed.current);
  if (current !== undefined) await tokens.revoke(current.id);
}
