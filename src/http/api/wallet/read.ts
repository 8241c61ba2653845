/** `GET /api/wallet[?app=]`: the account and its apps. Opens the account, and grants starter credits once per app. */
import * as z from "zod/mini";
import { callerOf } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { readWalletWithGrant } from "../../allowances/starter_grant.ts";
import { isForeignCookieWrite } from "../../middleware/origins.ts";
import { refuse } from "../../refusals.ts";
import { appSlug } from "../../validation.ts";
import type { Wallet } from "../../../account/contract.ts";
import { nextExpiry } from "../../../domain/lots.ts";
import { lotView, topUpView } from "../../../domain/wire.ts";
import { timestamp } from "../../views.ts";

export const readWallet = endpoint(
  {
    at: "GET /api/wallet",
    caller: "user_or_app",
    query: z.object({ app: z.optional(appSlug) }),
    refusals: ["origin_not_allowed", "app_not_registered", "limit_reached:apps"],
  },
  async (context, { query: { app: slug } }) => {
    // With `app` this GET writes, so a cookie from an origin that is not allowed is refused.
    if (slug !== undefined && (await isForeignCookieWrite(context))) {
      return refuse(context, { code: "origin_not_allowed" });
    }
    const { apps: registry } = context.get("services");
    const wallet = await readWalletWithGrant(context, callerOf(context), slug);
    if (!wallet.ok) return refuse(context, wallet.refusal);
    const { account, held, bought, lots, apps, app_grant, takes_starters, topup } = wallet.value;
    const next = nextExpiry(lots);
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
      held,
      bought,
      lots: lots.map(lotView),
      next_expiry: next === null ? null : { credits: next.credits, at: timestamp(next.at_ms) },
      ...(topup !== undefined && { topup: topup === null ? null : topUpView(topup) }),
      apps: apps.map((row) => ({
        slug: row.slug,
        starter_credits: current_starters.get(row.slug) ?? row.starter_credits,
        granted: row.granted_at_ms !== null,
        granted_at: row.granted_at_ms === null ? null : timestamp(row.granted_at_ms),
      })),
      app_grant,
      ...roomOf(wallet.value),
    });
  },
);

/** What the caller can spend: for the named app, or for a token with a cap. */
function roomOf({ account, spendable, room }: Wallet) {
  if (room === null) return spendable === null ? {} : { spendable };
  return { room, spendable: Math.min(room, spendable ?? Math.max(0, account.credits)) };
}
