/** `GET /account`: the signed-in person's own page. */
import { DAY_MS } from "../../domain/calendar.ts";
import { readPurchaseReturn } from "./purchase_return.ts";
import { AccountPage } from "./overview_page.tsx";
import { noticeText } from "../layout/messages.ts";
import { readAccessList } from "../../http/allowances/access_list.ts";
import type { PackagePrice } from "../../domain/purchases.ts";
import { languageOf } from "../../http/caller/page_language.ts";
import { callerOf, factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { appLooks } from "../layout/app_icon.tsx";

/** The days that the charts of the account page span. */
const OVERVIEW_DAYS = 30;

/** The purchases that it lists; another page has all of them. */
const OVERVIEW_PURCHASES = 3;

export const showAccount = factory.createHandlers(async (context) => {
  const { identity, accounts, payments } = context.get("services");
  const { identity_id } = context.get("session");
  const account = accounts(identity_id);
  const to_ms = Date.now();
  const from_ms = to_ms - OVERVIEW_DAYS * DAY_MS;
  const [person, overview, access, appLook, purchases, prices, back] = await Promise.all([
    identity.readPerson(identity_id),
    account.readOverview(callerOf(context), { from_ms }),
    readAccessList(context, languageOf(context)),
    appLooks(context),
    account.listPurchases(callerOf(context), { limit: OVERVIEW_PURCHASES }),
    payments === null
      ? new Map<string, PackagePrice>()
      : payments.readPrices((work) => context.executionCtx.waitUntil(work)),
    readPurchaseReturn(context, {
      return_to: context.req.query("return_to"),
      client: context.req.query("client"),
    }),
  ]);
  if (!overview.ok) return refuseWithPage(context, overview.refusal);
  if (!back.ok) return refuseWithPage(context, back.refusal);
  if (!access.ok) return refuseWithPage(context, access.refusal);
  if (!purchases.ok) return refuseWithPage(context, purchases.refusal);
  if (person === null) return refuseWithPage(context, { code: "not_found" });
  return context.html(
    <AccountPage
      person={person}
      overview={{ ...overview.value, to_ms }}
      appLook={appLook}
      access={access.value}
      packages={payments?.packages ?? []}
      prices={prices}
      back={back.value}
      purchases={purchases.value.rows}
      has_more_purchases={purchases.value.next !== null}
      notice={noticeText(context.req.query("notice"))}
    />,
  );
});
