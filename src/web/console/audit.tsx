/** `GET /console/audit[?actor=&act=&subject=&cursor=]`: what operators did. */
import { AuditPage, type ShownAct } from "./audit_page.tsx";
import { listAuditQuery, readAudit } from "../../http/api/admin/list_audit.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { askedFor, cursorOf, personNames } from "./asked.ts";

export const showAudit = factory.createHandlers(async (context) => {
  const query = askedFor(context, listAuditQuery);
  const { actor, act, subject, cursor } = query;
  const { acts, personName, next_cursor } = await readActs(context, query);
  return context.html(
    <AuditPage
      filters={{ actor, act, subject }}
      cursor={cursor === undefined ? null : cursorOf(context)}
      {...{ acts, personName, next_cursor }}
    />,
  );
});

/** Lines of the log as pages show them, with the names of who is in them. */
export async function readActs(context: AppContext, query: Parameters<typeof readAudit>[1]) {
  const { entries, next_cursor } = await readAudit(context, query);
  const acts = entries.map(
    ({ at, actor, act, subject, reason, details: { outcome, ...details } }): ShownAct => ({
      at_ms: Date.parse(at),
      actor,
      act,
      subject,
      reason,
      details,
      outcome,
    }),
  );
  const people = acts.flatMap(({ actor, subject }) => [actor, subject]);
  return { acts, next_cursor, personName: await personNames(context, people) };
}
