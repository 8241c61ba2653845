/** The form of the tables of error messages in this folder. */
import type { RefusalCode } from "../../domain/refusal_codes.ts";
import type { Refusal } from "../../domain/refusals.ts";

/** The fields that a refusal adds to its response. */
export interface ErrorParts {
  /** A message for people: what is wrong and what to do next. */
  readonly error: string;
  /** The status, if it is not the usual one of the code. */
  readonly status?: 429;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the body in addition to `error` and `code`. */
  readonly more?: Readonly<Record<string, number | string | object | null>>;
}

/** The message of each code, or what makes it and the other parts from the refusal. */
export type ErrorTable = {
  readonly [Code in RefusalCode]:
    | string
    | ((refusal: Extract<Refusal, { readonly code: Code }>) => ErrorParts);
};

/** The text after an address that is refused. */
export const NOT_ALLOWED =
  "which is not an allowed address. Its operator can add its origin to ALLOWED_ORIGINS, or to the app's origins.";
