/** Why an operator changes an app, for the audit log. */
import * as z from "zod";

export const reasonText = z
  .string("must be a string")
  .min(1, "must not be empty")
  .max(500, "must have at most 500 characters")
  .refine((text) => text.isWellFormed() && !text.includes("\0"), "must be well-formed text");
