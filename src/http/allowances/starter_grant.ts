/** The starter credits of an app, within its daily budget and to the people who get them. */
import type { Answer, Caller, Wallet, WalletRequest } from "../../account/contract.ts";
import { utcDayOf } from "../../domain/calendar.ts";
import { accepted, errorName, refused } from "../../domain/result.ts";
import { isExcluded } from "../../domain/starter_rule.ts";
import { accountOf, type AppContext } from "../context.ts";
import { refusalOfApp } from "./registered_app.ts";

/**
 * The wallet, with the app's grant if it is due. A paused app makes no grant. Only the grant of an app with a daily
 * budget or excluded domains makes more hops: one to the budget's object or to the person's e-mail address, and one
 * back to the account. Passbook itself (`SERVICE`) adds the app without opening the account for the app's key.
 */
export async function readWalletWithGrant(
  context: AppContext,
  caller: Caller,
  slug: string | undefined,
): Promise<Answer<Wallet>> {
  const { apps, reserve_starter } = context.get("services");
  const { identity_id } = context.get("caller");
  const readWith = (app: WalletRequest["app"]) => accountOf(context).wallet(caller, { app });
  if (slug === undefined) return readWith(null);
  const starter = await apps.starterGrant(slug);
  const unregistered = refusalOfApp(context, slug, starter?.is_registered ?? true);
  if (unregistered !== null) return refused(unregistered);
  const starter_credits = starter?.credits ?? null;
  const is_unconditional =
    starter === null ||
    (starter.daily_budget === null && starter.excluded_domains.length === 0 && !starter.is_paused);
  const is_registered = starter?.is_registered ?? true;
  const terms = starter === null ? {} : { starter: starter.terms };
  const app = { slug, starter_credits, is_registered, ...terms };
  if (is_unconditional) return readWith(app);
  const wallet = await readWith({ ...app, reservation: null });
  if (!wallet.ok || !wallet.value.grant_waits) return wallet;
  const { credits, daily_budget, excluded_domains, is_paused } = starter;
  if (is_paused || (await isExcludedFrom(context, excluded_domains))) {
    const app_grant = { slug, starter_credits: 0, granted: false };
    return accepted({ ...wallet.value, app_grant });
  }
  const wanted = { app_slug: slug, identity_id, credits };
  const reservation =
    daily_budget === null
      ? { day: utcDayOf(Date.now()), credits }
      : await reserve_starter({ ...wanted, daily_budget });
  return reservation === null ? wallet : readWith({ ...app, reservation });
}

/** Whether the caller gets no starter credits now. If the address cannot be read, the grant is made another time. */
async function isExcludedFrom(context: AppContext, domains: readonly string[]): Promise<boolean> {
  if (domains.length === 0) return false;
  const { identity_id } = context.get("caller");
  try {
    const person = await context.get("services").identity.readPerson(identity_id);
    return isExcluded(person, domains);
  } catch (error) {
    console.warn({ event: "starter_rule_unreadable", reason: errorName(error) });
    return true;
  }
}
