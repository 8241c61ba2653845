/** Validation of the service's address from an option, a variable or a file. */
import { createClient, isPassbookError, PassbookError } from "../client/index.ts";

/** Whether the client accepts the text as the service's origin. */
export function isAddress(text: string): boolean {
  try {
    createClient({ baseUrl: text });
    return true;
  } catch (error) {
    if (isPassbookError(error, "invalid_argument")) return false;
    throw error;
  }
}

/** The origin that `name`, such as `--url`, was set to. @throws PassbookError `invalid_argument` */
export function readAddress(text: string, name: string): string {
  if (isAddress(text)) return new URL(text).origin;
  const message =
    `${name} must be the service's address, such as https://passbook.example.com, but it is "${text}". ` +
    "Plain http is allowed only for this machine and, in development, for hosts without a dot.";
  throw new PassbookError("invalid_argument", message);
}
