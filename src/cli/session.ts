/** Whom a command acts for: the token of the environment, else the saved login's. */
import { InvalidArgumentError } from "commander";
import { createClient, PassbookError, type PassbookClient } from "../client/index.ts";
import { credentialsPath, readLogin } from "./credentials_file.ts";

/** Options that every command has. */
export interface GlobalOptions {
  readonly json?: boolean;
  readonly url?: string;
}

/** A page's size on a command line. @throws InvalidArgumentError */
export function readNumber(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It is a number from 1 to 200.");
}

/** The service's address: as said, of the environment, or of the saved login. */
export async function serviceUrl(options: GlobalOptions): Promise<string> {
  const said = options.url ?? process.env["PASSBOOK_URL"];
  const url = said ?? (await readLogin(credentialsPath(process.env)))?.url;
  if (url !== undefined) return url;
  const message = "Which service? Give --url https://passbook.example.com, or set PASSBOOK_URL.";
  throw new PassbookError("invalid_argument", message);
}

/** A client for who is signed in. @throws PassbookError `no_credentials` */
export async function signedIn(options: GlobalOptions): Promise<PassbookClient> {
  const token = process.env["PASSBOOK_TOKEN"];
  if (token !== undefined && token !== "") {
    return createClient({ baseUrl: await serviceUrl(options), token });
  }
  const login = await readLogin(credentialsPath(process.env));
  const said = options.url ?? process.env["PASSBOOK_URL"];
  // A saved token goes to the service that gave it, whatever another command line says.
  if (login === null || (said !== undefined && new URL(said).origin !== login.url)) {
    throw new PassbookError("no_credentials", "You are not signed in here. Run: passbook login");
  }
  return createClient({ baseUrl: login.url, token: login.token });
}
