/** The service's address as people give it: an origin, in an option, a variable or a file. */
import { createClient, isPassbookError, PassbookError } from "../client/index.ts";

/** Whether the client takes it for a service's origin. */
export function isAddress(text: string): boolean {
  try {
    createClient({ baseUrl: text });
    return true;
  } catch (error) {
    if (isPassbookError(error, "invalid_argument")) return false;
    throw error;
  }
}

/**
 * The origin that was given as `name`, such as `--url`.
 * @throws PassbookError `invalid_argument`
 */
export function readAddress(text: string, name: string): string {
  if (isAddress(text)) return new URL(text).origin;
  const message =
    `${name} must be the service's address, such as https://passbook.example.com ` +
    `(plain http only on this machine, and in development to hosts without a dot), and is "${text}".`;
  throw new PassbookError("invalid_argument", message);
}
