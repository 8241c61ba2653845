/** The credentials of a command: PASSBOOK_TOKEN, or else the saved login. */
import { createAdmin } from "../client/admin/index.ts";
import { createClient, PassbookError, type PassbookClient } from "../client/index.ts";
import { readAddress } from "./address.ts";
import { savedLogin, savedToken } from "./connection.ts";
import { credentialsPath, readLogin } from "./credentials_file.ts";

/** Options that every command has. */
export interface GlobalOptions {
  readonly json?: boolean;
  readonly url?: string;
}

/** The address from `--url` or PASSBOOK_URL. @throws PassbookError */
function givenUrl({ url }: GlobalOptions): string | undefined {
  if (url !== undefined) return readAddress(url, "--url");
  const { PASSBOOK_URL } = process.env;
  return PASSBOOK_URL ? readAddress(PASSBOOK_URL, "PASSBOOK_URL") : undefined;
}

/** The token of the environment, which takes precedence over a saved one. */
export function environmentToken(): string | null {
  return process.env["PASSBOOK_TOKEN"] || null;
}

/** The service's address: from `--url`, PASSBOOK_URL or the saved login. */
export async function serviceUrl(options: GlobalOptions): Promise<string> {
  const url = givenUrl(options) ?? (await readLogin(credentialsPath(process.env)))?.url;
  if (url !== undefined) return url;
  const message =
    "The service's address is missing. Use --url https://passbook.example.com, or set PASSBOOK_URL.";
  throw new PassbookError("invalid_argument", message);
}

/** The service of the caller's token. @throws PassbookError `no_credentials` */
export async function credentialsUrl(options: GlobalOptions): Promise<string> {
  if (environmentToken() !== null) return serviceUrl(options);
  const url = givenUrl(options) ?? (await readLogin(credentialsPath(process.env)))?.url;
  if (url !== undefined) return url;
  const message = "You are not signed in. Run: passbook login --url <address of the service>";
  throw new PassbookError("no_credentials", message);
}

/** The caller's token, renewed if necessary, and its service. @throws PassbookError `no_credentials` */
export async function currentToken(options: GlobalOptions) {
  const url = await credentialsUrl(options);
  return { url, token: environmentToken() ?? (await savedToken(url)) };
}

/** The service and the caller's token. @throws PassbookError `no_credentials` */
async function clientOptionsOf(options: GlobalOptions) {
  const baseUrl = await credentialsUrl(options);
  const token = environmentToken();
  if (token !== null) return { baseUrl, token };
  await savedLogin(baseUrl);
  return { baseUrl, token: () => savedToken(baseUrl) };
}

/** A client with the caller's token. @throws PassbookError `no_credentials` */
export async function signedIn(options: GlobalOptions): Promise<PassbookClient> {
  return createClient(await clientOptionsOf(options));
}

/** The calls for operators, the global options, and the command's own options. @throws PassbookError `no_credentials` */
export async function adminOf<Own>({ json = false, url, ...own }: GlobalOptions & Own) {
  const options = { json, ...(url === undefined ? {} : { url }) };
  return {
    admin: createAdmin(await clientOptionsOf(options)),
    options,
    own: own as unknown as Own,
  };
}
