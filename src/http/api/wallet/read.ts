/** `GET /api/wallet[?app=]`: the account and its app grants; opens the account, grants once. */
import * as z from "zod/mini";
import type { Answer, WalletAnswer, WalletRequest } from "../../../account/contract.ts";
import { accountOf, callerOf, factory, type AppContext } from "../../context.ts";
import { guardCookieWrites } from "../../middleware/origins.ts";
import { refuse } from "../../refusals.ts";
import { appSlug, validQuery } from "../../validation.ts";
import { timestamp } from "../../views.ts";

export const readWalletQuery = z.object({ app: z.optional(appSlug) });

/** With `app` this GET writes, so a cookie alone does not suffice from an unknown page. */
const guardGrant = factory.createMiddleware((context, next) =>
  context.req.query("app") === undefined ? next() : guardCookieWrites(context, next),
);

export const readWallet = factory.createHandlers(
  validQuery(readWalletQuery),
  guardGrant,
  async (context) => {
    const { app: slug } = context.req.valid("query");
    const { apps: registry } = context.get("services");
    const answer = await grantWithinBudget(context, slug);
    if (!answer.ok) return refuse(context, answer.refusal);
    const { account, apps, app_grant, takes_starters } = answer.value;
    const worth_now = new Map<string, number>();
    for (const { slug, starter_credits, granted_at_ms } of apps) {
      // Where the registry cannot be read, the account's own row stands in.
      if (granted_at_ms === null && takes_starters) {
        worth_now.set(slug, (await registry.starterCredits(slug)) ?? starter_credits);
      }
    }
    return context.json({
      account,
      apps: apps.map((row) => ({
        slug: row.slug,
        starter_credits: worth_now.get(row.slug) ?? row.starter_credits,
        granted: row.granted_at_ms !== null,
        granted_at: row.granted_at_ms === null ? null : timestamp(row.granted_at_ms),
      })),
      app_grant,
    });
  },
);

/**
 * The wallet, with the app's grant where it may be made. Only an account that a budgeted grant waits for
 * makes two hops more: to the budget, and back with what that set apart.
 */
async function grantWithinBudget(
  context: AppContext,
  slug: string | undefined,
): Promise<Answer<WalletAnswer>> {
  const { apps, reserve_starter } = context.get("services");
  const { identity_id } = context.get("caller");
  const ask = (app: WalletRequest["app"]) => accountOf(context).wallet(callerOf(context), { app });
  if (slug === undefined) return ask(null);
  const starter = await apps.starterGrant(slug);
  const starter_credits = starter?.credits ?? null;
  if (starter === null || starter.daily_budget === null) return ask({ slug, starter_credits });
  const answer = await ask({ slug, starter_credits, reservation: null });
  if (!answer.ok || !answer.value.grant_waits) return answer;
  const { credits, daily_budget } = starter;
  const wanted = { app_slug: slug, identity_id, credits, daily_budget };
  const reservation = await reserve_starter(wanted);
  return reservation === null ? answer : ask({ slug, starter_credits, reservation });
}
