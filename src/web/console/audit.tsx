/** `GET /console/audit[.csv][?actor=&act=&subject=&from=&to=&cursor=]`: the audit log of operators' actions. */
import * as z from "zod/mini";
import { AuditPage } from "./audit_page.tsx";
import { DAY_MS } from "../../domain/calendar.ts";
import { listAuditQuery, readAudit, respondWithAuditCsv } from "../../http/api/admin/list_audit.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { cursorOf, personNames, problemOf, readQuery } from "./queries.ts";

/** The page's filter has days; `to` is the last day. */
const day = z.pipe(z.iso.date(), z.transform(Date.parse));
const pageQuery = z.extend(listAuditQuery, { from: z.optional(day), to: z.optional(day) });

function readFilter(context: AppContext) {
  const query = readQuery(context, pageQuery);
  return query.to === undefined ? query : { ...query, to: query.to + DAY_MS };
}

export const showAudit = factory.createHandlers(async (context) => {
  const query = readFilter(context);
  const { actor, act, subject, cursor } = query;
  const from = query.from === undefined ? undefined : context.req.query("from");
  const to = query.to === undefined ? undefined : context.req.query("to");
  const read = await readAuditLog(context, query);
  return context.html(
    <AuditPage
      filters={{ actor, act, subject, from, to }}
      cursor={cursor === undefined ? null : cursorOf(context)}
      {...read}
    />,
    read.problem === null ? 200 : 400,
  );
});

export const downloadAudit = factory.createHandlers(async (context) => {
  const csv = await respondWithAuditCsv(context, readFilter(context));
  return csv.ok ? csv.value : refuseWithPage(context, csv.refusal);
});

/** A page of the log, with the names of the people in it. */
export async function readAuditLog(context: AppContext, query: Parameters<typeof readAudit>[1]) {
  const read = await readAudit(context, query);
  const { entries, next_cursor } = read.ok ? read.value : { entries: [] };
  const people = entries.flatMap(({ actor, subject }) => [actor, subject]);
  const personName = await personNames(context, people);
  return { entries, next_cursor, personName, problem: problemOf(read) };
}
