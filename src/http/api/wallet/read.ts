/** `GET /api/wallet[?app=]`: the account and its apps. Opens the account, and grants starter credits once per app. */
import * as z from "zod/mini";
import type { Answer, Wallet, WalletRequest } from "../../../account/contract.ts";
import { utcDayOf } from "../../../domain/calendar.ts";
import { accepted, errorName } from "../../../domain/result.ts";
import { isExcluded } from "../../../domain/starter_rule.ts";
import { accountOf, callerOf, factory, type AppContext } from "../../context.ts";
import { guardCookieWrites } from "../../middleware/origins.ts";
import { refuse } from "../../refusals.ts";
import { appSlug, validQuery } from "../../validation.ts";
import { timestamp } from "../../views.ts";

export const readWalletQuery = z.object({ app: z.optional(appSlug) });

/** With `app` this GET writes, so a cookie from an origin that is not allowed is refused. */
const guardGrant = factory.createMiddleware((context, next) =>
  context.req.query("app") === undefined ? next() : guardCookieWrites(context, next),
);

export const readWallet = factory.createHandlers(
  validQuery(readWalletQuery),
  guardGrant,
  async (context) => {
    const { app: slug } = context.req.valid("query");
    const { apps: registry } = context.get("services");
    const wallet = await grantWithinBudget(context, slug);
    if (!wallet.ok) return refuse(context, wallet.refusal);
    const { account, apps, app_grant, room, takes_starters } = wallet.value;
    const current_starters = new Map<string, number>();
    for (const { slug, starter_credits, granted_at_ms } of apps) {
      // If the registry cannot be read, the amount in the account's row is used.
      if (granted_at_ms === null && takes_starters) {
        const now = slug === app_grant?.slug ? app_grant.starter_credits : null;
        current_starters.set(slug, now ?? (await registry.starterCredits(slug)) ?? starter_credits);
      }
    }
    return context.json({
      account,
      apps: apps.map((row) => ({
        slug: row.slug,
        starter_credits: current_starters.get(row.slug) ?? row.starter_credits,
        granted: row.granted_at_ms !== null,
        granted_at: row.granted_at_ms === null ? null : timestamp(row.granted_at_ms),
      })),
      app_grant,
      ...(room === null ? {} : { room, spendable: Math.max(0, Math.min(room, account.credits)) }),
    });
  },
);

/**
 * The wallet, with the app's grant if it is due. Only the grant of an app with a daily budget or excluded domains makes
 * more hops: one to the budget's object or to the person's e-mail address, and one back to the account.
 */
async function grantWithinBudget(
  context: AppContext,
  slug: string | undefined,
): Promise<Answer<Wallet>> {
  const { apps, reserve_starter } = context.get("services");
  const { identity_id } = context.get("caller");
  const readWith = (app: WalletRequest["app"]) =>
    accountOf(context).wallet(callerOf(context), { app });
  if (slug === undefined) return readWith(null);
  const starter = await apps.starterGrant(slug);
  const starter_credits = starter?.credits ?? null;
  const is_unconditional =
    starter === null || (starter.daily_budget === null && starter.excluded_domains.length === 0);
  const is_registered = starter?.is_registered ?? true;
  if (is_unconditional) return readWith({ slug, starter_credits, is_registered });
  const app = { slug, starter_credits, is_registered };
  const wallet = await readWith({ ...app, reservation: null });
  if (!wallet.ok || !wallet.value.grant_waits) return wallet;
  const { credits, daily_budget, excluded_domains } = starter;
  if (await isExcludedFrom(context, excluded_domains)) {
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
