/** Why an operator does something, for the audit log and, where credits move, for their owner. */
import * as z from "zod/mini";
import { REASON_MAX_LENGTH } from "../../../domain/limits.ts";
import { shownText, wellFormed } from "../../validation.ts";

export const reason = z
  .string("must be a string")
  .check(
    z.trim(),
    z.minLength(1, "must say why"),
    z.maxLength(REASON_MAX_LENGTH, `must be at most ${REASON_MAX_LENGTH} characters`),
    wellFormed,
    shownText,
  );
