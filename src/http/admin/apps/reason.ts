/** Why an operator changes an app, for the audit log. */
import * as z from "zod/mini";

export const reasonText = z.string("must be a string").check(
  z.minLength(1, "must not be empty"),
  z.maxLength(500, "must have at most 500 characters"),
  z.refine((text) => text.isWellFormed() && !text.includes("\0"), "must be well-formed text"),
);
