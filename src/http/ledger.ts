/** `GET /api/ledger`: the lines of the caller's passbook, newest first. */
import * as z from "zod";
import { accountOf, callerOf, factory } from "./context.ts";
import { refuse } from "./refusals.ts";
import { pageLimit, validQuery } from "./validation.ts";
import { entryView } from "./views.ts";

const query = z.object({
  limit: pageLimit,
  cursor: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, "must be a next_cursor of this list")
    .transform(Number)
    .optional(),
});

export const listLedger = factory.createHandlers(validQuery(query), async (context) => {
  const { limit, cursor } = context.req.valid("query");
  const account = accountOf(context);
  const answer = await account.listEntries(callerOf(context), { before_line: cursor, limit });
  if (!answer.ok) return refuse(context, answer.refusal);
  const { rows, more } = answer.value;
  const last = rows.at(-1);
  return context.json({
    entries: rows.map(entryView),
    ...(more && last !== undefined ? { next_cursor: String(last.line) } : {}),
  });
});
