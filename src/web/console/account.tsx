/** `GET /console/accounts/{identity_id}[?before=]`: one account, read from its own object. */
import { OPERATOR, type InspectedAccount } from "../../account/contract.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { ConsoleAccountPage } from "./account_page.tsx";
import { accountPath, consolePath } from "./table.tsx";
import { consoleNoticeText } from "./labels.ts";
import { appNames } from "../account/apps.ts";
import { readEntryNumber } from "../account/statement.tsx";
import { statementEntries } from "../account/statement_entries.ts";
import { holderAccount } from "../../http/api/admin/accounts/holder.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { readAuditLog } from "./audit.tsx";
import { nullIfUnreadable } from "./queries.ts";

/** Ledger entries on the first page of an account in the console. */
const ENTRIES_SHOWN_MAX = 25;

/** Operator actions shown with an account. The audit log has all of them. */
const ACTIONS_SHOWN_MAX = 5;

export const showAccount = factory.createHandlers(async (context) => {
  const { identity } = context.get("services");
  const person = context.get("holder");
  const before_line = readEntryNumber(context.req.query("before"));
  const account = holderAccount(context);
  const { identity_id } = person;
  const [inspected, statement, sessions, appName, audited] = await Promise.all([
    account.inspect(),
    account.readStatement(OPERATOR, {
      from_ms: 0,
      to_ms: Date.now() + DAY_MS,
      before_line,
      limit: ENTRIES_SHOWN_MAX,
    }),
    identity.listSessions(identity_id),
    appNames(context),
    readAuditLog(context, { subject: identity_id, limit: ACTIONS_SHOWN_MAX }),
  ]);
  if (!inspected.ok) return refuseWithPage(context, inspected.refusal);
  if (!statement.ok) return refuseWithPage(context, statement.refusal);
  const { rows, more } = statement.value;
  const older_path = consolePath(accountPath(identity_id), { before: rows.at(-1)?.line });
  return context.html(
    <ConsoleAccountPage
      person={person}
      inspected={inspected.value}
      sessions={sessions}
      entries={statementEntries(statement.value, appName)}
      is_first_page={before_line === null}
      older_path={more ? older_path : null}
      audit_entries={audited.entries}
      personName={audited.personName}
      read_model_progress={await readModelProgress(context, inspected.value)}
      appName={appName}
      notice={consoleNoticeText(context.req.query("notice"))}
    />,
  );
});

/** How much of the account the read model has, as a sentence. */
async function readModelProgress(
  context: AppContext,
  { account: { id }, line }: InspectedAccount,
): Promise<string> {
  const { read_model } = context.get("services");
  const read = await nullIfUnreadable(read_model.readDelivered(id).then((known) => ({ known })));
  if (read === null)
    return "The database of lists and charts is not responding, so they may not show this account.";
  const known = read.known?.line ?? 0;
  return known >= line
    ? `Lists and charts include all ${line} of its ledger entries.`
    : `Lists and charts include ${known} of its ${line} ledger entries so far. The rest usually follows within seconds.`;
}
