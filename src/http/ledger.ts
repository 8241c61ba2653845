/** `GET /api/ledger`: the lines of the caller's passbook, newest first. */
import * as z from "zod";
import { ENTRY_KINDS } from "../domain/ledger.ts";
import { accountOf, callerOf, factory } from "./context.ts";
import { refuse } from "./refusals.ts";
import { appSlug, jobId, pageLimit, validQuery } from "./validation.ts";
import { entryView } from "./views.ts";

/** A moment, in any offset (RFC 3339). */
const moment = z.iso
  .datetime({ offset: true, error: "must be a time such as 2026-11-21T00:00:00Z" })
  .transform((text) => Date.parse(text))
  .refine(Number.isFinite, "must be a time that exists");

export const listLedgerQuery = z.object({
  app: appSlug.optional(),
  job_id: jobId.optional(),
  kind: z.enum(ENTRY_KINDS, `must be one of ${ENTRY_KINDS.join(", ")}`).optional(),
  from: moment.optional(),
  to: moment.optional(),
  limit: pageLimit,
  cursor: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, "must be a next_cursor of this list")
    .transform(Number)
    .optional(),
});

export const listLedger = factory.createHandlers(validQuery(listLedgerQuery), async (context) => {
  const { app, job_id, kind, from, to, limit, cursor } = context.req.valid("query");
  const account = accountOf(context);
  const answer = await account.listEntries(callerOf(context), {
    app_slug: app,
    job_id,
    kind,
    from_ms: from,
    to_ms: to,
    before_line: cursor,
    limit,
  });
  if (!answer.ok) return refuse(context, answer.refusal);
  const { rows, next } = answer.value;
  return context.json({
    entries: rows.map(entryView),
    ...(next === null ? {} : { next_cursor: String(next) }),
  });
});
