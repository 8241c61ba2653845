/**
 * `GET /account/top-up` shows automatic top-up, and `POST` saves the choice, or switches it off. A checkout that saved a card
 * returns to `GET /account/top-up/saved`.
 */
import * as z from "zod/mini";
import { moneyField, moneyText, readMoney } from "../../domain/currency.ts";
import { LANGUAGE_TAGS, type Language } from "../../domain/language.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import {
  TOP_UP_LIMIT_MAX_MINOR,
  TOP_UP_THRESHOLD_MAX,
  type ToppedUpPackage,
  type TopUpPlan,
} from "../../domain/top_up.ts";
import { accountOf, callerOf, factory, type AppContext } from "../../http/context.ts";
import { paymentsOf } from "../../http/middleware/require_payments.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm, validOr } from "../../http/validation.ts";
import { languageOf } from "../../http/caller/page_language.ts";
import { message } from "../language/text.tsx";
import { noticeText } from "../layout/messages.ts";
import { TopUpPage, type TopUpChoices, type TopUpProblems } from "./top_up_page.tsx";

const PAGE = "/account/top-up";

/** Suggested until the holder has chosen. */
const SUGGESTED_THRESHOLD = 100;

export const showTopUp = factory.createHandlers((context) => showForm(context, null, {}));

/** The checkout's own data says whose it is. Its event may have come first; then this changes nothing. */
export const finishTopUp = factory.createHandlers(async (context) => {
  const session_id = context.req.query("checkout_session") ?? "";
  if (!/^cs_\w{1,250}$/.test(session_id)) return context.redirect(PAGE, 303);
  const { identity_id } = context.get("session");
  const read = await paymentsOf(context).readCardSetup(session_id);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const setup = read.value;
  if (setup === null || setup.identity_id !== identity_id) return context.redirect(PAGE, 303);
  const { nonce, card } = setup;
  const done = await accountOf(context).finishTopUpSetup({ nonce, card });
  if (!done.ok) return refuseWithPage(context, done.refusal);
  return context.redirect(`${PAGE}?notice=top_up_on`, 303);
});

const text = validOr("", z.string().check(z.maxLength(64)));
const form = z.object({
  act: z.enum(["save", "new_card", "off"]),
  package: text,
  threshold: text,
  month_limit: text,
  // Of the page that the amount was typed on: another one writes thousands as decimals.
  language: z.optional(z.enum(LANGUAGE_TAGS)),
});

export const changeTopUp = factory.createHandlers(validForm(form), async (context) => {
  const { act, ...typed } = context.req.valid("form");
  const account = accountOf(context);
  if (act === "off") {
    const ended = await account.endTopUp(callerOf(context));
    if (!ended.ok) return refuseWithPage(context, ended.refusal);
    return context.redirect(`${PAGE}?notice=top_up_off`, 303);
  }
  const choices = { package_id: typed.package, ...typed };
  const sold = await paymentsOf(context).readTopUpPackage(typed.package);
  if (!sold.ok && sold.refusal.code !== "package_unknown") {
    return refuseWithPage(context, sold.refusal);
  }
  const plan = readPlan(
    sold.ok ? sold.value : null,
    choices,
    typed.language ?? languageOf(context),
  );
  if (!plan.ok) return showForm(context, choices, plan.refusal);
  const known = await account.readTopUp(callerOf(context));
  if (!known.ok) return refuseWithPage(context, known.refusal);
  if (act === "save" && known.value.setting !== null) {
    const changed = await account.changeTopUp(callerOf(context), plan.value);
    if (!changed.ok) return refuseWithPage(context, changed.refusal);
    return context.redirect(`${PAGE}?notice=top_up_saved`, 303);
  }
  return startSetup(context, plan.value);
});

async function startSetup(context: AppContext, plan: TopUpPlan): Promise<Response> {
  const nonce = crypto.randomUUID();
  const begun = await accountOf(context).beginTopUpSetup(callerOf(context), { nonce, plan });
  if (!begun.ok) return refuseWithPage(context, begun.refusal);
  const started = await paymentsOf(context).startCardSetup({
    identity_id: context.get("session").identity_id,
    nonce,
    page: new URL(PAGE, context.get("base_url")).href,
  });
  return started.ok
    ? context.redirect(started.value, 303)
    : refuseWithPage(context, started.refusal);
}

function readPlan(
  sold: ToppedUpPackage | null,
  { threshold: typed, month_limit }: TopUpChoices,
  language: Language,
): Result<TopUpPlan, TopUpProblems> {
  if (sold === null) return refused({ package: "Choose a package with a fixed price." });
  const threshold = /^\d{1,10}$/.test(typed.trim()) ? Number(typed) : 0;
  const limit = readMoney(month_limit, sold.currency, language);
  const least = moneyText(sold.unit_minor, sold.currency, language);
  const most = moneyText(TOP_UP_LIMIT_MAX_MINOR, sold.currency, language);
  const is_limit_valid =
    limit !== null && limit >= sold.unit_minor && limit <= TOP_UP_LIMIT_MAX_MINOR;
  const problems: TopUpProblems = {
    ...(threshold >= 1 && threshold <= TOP_UP_THRESHOLD_MAX
      ? {}
      : {
          threshold: message("Enter a whole number from 1 to {most}.", {
            most: TOP_UP_THRESHOLD_MAX,
          }),
        }),
    ...(is_limit_valid
      ? {}
      : {
          month_limit: message(
            "Enter an amount from {least}, the price of the package, to {most}.",
            { least, most },
          ),
        }),
  };
  if (Object.keys(problems).length > 0 || limit === null) return refused(problems);
  return accepted({ ...sold, threshold, month_limit_minor: limit });
}

async function showForm(
  context: AppContext,
  typed: TopUpChoices | null,
  problems: TopUpProblems,
): Promise<Response> {
  const payments = paymentsOf(context);
  const language = languageOf(context);
  const [read, prices] = await Promise.all([
    accountOf(context).readTopUp(callerOf(context)),
    payments.readPrices((work) => context.executionCtx.waitUntil(work)),
  ]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const plan = read.value.setting?.plan ?? null;
  const chosen = {
    package_id: plan?.package_id ?? payments.packages[0]?.id ?? "",
    threshold: String(plan?.threshold ?? SUGGESTED_THRESHOLD),
    month_limit: plan === null ? "" : moneyField(plan.month_limit_minor, plan.currency, language),
  };
  const page = (
    <TopUpPage
      {...read.value}
      packages={payments.packages}
      prices={prices}
      choices={typed ?? chosen}
      problems={problems}
      notice={noticeText(context.req.query("notice"))}
    />
  );
  return context.html(page, Object.keys(problems).length === 0 ? 200 : 400);
}
