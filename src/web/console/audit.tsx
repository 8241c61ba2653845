/** `GET /console/audit[?actor=&act=&subject=&cursor=]`: the audit log of operators' actions. */
import { AuditPage } from "./audit_page.tsx";
import { listAuditQuery, readAudit } from "../../http/api/admin/list_audit.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { cursorOf, personNames, readQuery } from "./queries.ts";

export const showAudit = factory.createHandlers(async (context) => {
  const query = readQuery(context, listAuditQuery);
  const { actor, act, subject, cursor } = query;
  return context.html(
    <AuditPage
      filters={{ actor, act, subject }}
      cursor={cursor === undefined ? null : cursorOf(context)}
      {...await readAuditLog(context, query)}
    />,
  );
});

/** A page of the log, with the names of the people in it. */
export async function readAuditLog(context: AppContext, query: Parameters<typeof readAudit>[1]) {
  const { entries, next_cursor } = await readAudit(context, query);
  const people = entries.flatMap(({ actor, subject }) => [actor, subject]);
  return { entries, next_cursor, personName: await personNames(context, people) };
}
