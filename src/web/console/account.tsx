/** `GET /console/accounts/{identity_id}[?before=&kind=&app=&job=&first=&last=]`: one account, read from its own object. */
import { OPERATOR, type InspectedAccount } from "../../account/contract.ts";
import { ConsoleAccountPage } from "./account_page.tsx";
import { consoleNoticeText } from "./labels.ts";
import { appNames } from "../account/apps.ts";
import { statementEntries } from "../account/statement_entries.ts";
import { holderAccount } from "../../http/api/admin/accounts/holder.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { readAuditLog } from "./audit.tsx";
import { readLedgerPage } from "./ledger.ts";
import { nullIfUnreadable } from "./queries.ts";

/** Purchases shown with an account. */
const PURCHASES_SHOWN_MAX = 20;

/** Operator actions shown with an account. The audit log has all of them. */
const ACTIONS_SHOWN_MAX = 5;

export const showAccount = factory.createHandlers(async (context) => {
  const { identity } = context.get("services");
  const person = context.get("holder");
  const account = holderAccount(context);
  const { identity_id } = person;
  const [inspected, ledger, bought, sessions, appName, audited] = await Promise.all([
    account.inspect(),
    readLedgerPage(context),
    account.listPurchases(OPERATOR, { limit: PURCHASES_SHOWN_MAX }),
    identity.listSessions(identity_id),
    appNames(context),
    readAuditLog(context, { subject: identity_id, limit: ACTIONS_SHOWN_MAX }),
  ]);
  if (!inspected.ok) return refuseWithPage(context, inspected.refusal);
  if (!ledger.ok) return refuseWithPage(context, ledger.refusal);
  if (!bought.ok) return refuseWithPage(context, bought.refusal);
  const { payments } = context.get("services");
  return context.html(
    <ConsoleAccountPage
      person={person}
      inspected={inspected.value}
      sessions={sessions}
      {...ledger.value}
      entries={statementEntries(ledger.value, appName)}
      app_options={inspected.value.apps.map(({ slug }) => [slug, appName(slug)] as const)}
      purchases={bought.value.rows}
      paymentUrl={payments === null ? null : payments.paymentUrl}
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
