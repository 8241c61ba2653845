/** `GET /console/accounts/{identity_id}[?before=]`: one account in full, from its own object. */
import { OPERATOR } from "../../account/contract.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { ConsoleAccountPage } from "./account_page.tsx";
import { accountAddress, consoleAddress } from "./table.tsx";
import { doneWords } from "./words.ts";
import { appNames } from "../account/app_names.ts";
import { statementLines } from "../account/statement_lines.ts";
import { holderAccount } from "../../http/api/admin/accounts/holder.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { readActs } from "./audit.tsx";
import { ifReadable } from "./asked.ts";

/** Ledger entries on the first page of an account in the console. */
const LINES_BESIDE_ACCOUNT_MAX = 25;

/** Operator actions shown with an account. The audit log has all of them. */
const ACTS_BESIDE_ACCOUNT_MAX = 5;

export const showAccountInFull = factory.createHandlers(async (context) => {
  const { identity } = context.get("services");
  const person = context.get("holder");
  const before_line = readLine(context.req.query("before"));
  const account = holderAccount(context);
  const { identity_id } = person;
  const [inspected, statement, sessions, appName, audited] = await Promise.all([
    account.inspect(),
    account.readStatement(OPERATOR, {
      from_ms: 0,
      to_ms: Date.now() + DAY_MS,
      before_line,
      limit: LINES_BESIDE_ACCOUNT_MAX,
    }),
    identity.listSessions(identity_id),
    appNames(context),
    readActs(context, { subject: identity_id, limit: ACTS_BESIDE_ACCOUNT_MAX }),
  ]);
  if (!inspected.ok) return refuseWithPage(context, inspected.refusal);
  if (!statement.ok) return refuseWithPage(context, statement.refusal);
  const { rows, more } = statement.value;
  const older = consoleAddress(accountAddress(identity_id), { before: rows.at(-1)?.line });
  return context.html(
    <ConsoleAccountPage
      person={person}
      it={inspected.value}
      sessions={sessions}
      lines={statementLines(statement.value, appName)}
      newest={before_line === null}
      older={more ? older : null}
      acts={audited.acts}
      personName={audited.personName}
      standing={await standingOf(context, inspected.value)}
      appName={appName}
      notice={doneWords(context.req.query("notice"))}
    />,
  );
});

/** How far lists and charts follow the account. */
async function standingOf(
  context: AppContext,
  { account: { id }, line }: { readonly account: { readonly id: string }; readonly line: number },
): Promise<string> {
  const { read_model } = context.get("services");
  const standing = await ifReadable(read_model.readDelivered(id).then((known) => ({ known })));
  if (standing === null)
    return "The read model does not answer, so lists may not have this account.";
  const known = standing.known?.line ?? 0;
  return known >= line
    ? `Lists and charts have all ${line} lines of its passbook.`
    : `Lists and charts have ${known} of its ${line} lines so far. The rest follows by itself, mostly within seconds.`;
}

function readLine(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}
