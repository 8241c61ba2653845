/** `GET /api/wallet[?app=]`: the account and its app grants; opens the account, grants once. */
import * as z from "zod";
import { callerOf, factory } from "./context.ts";
import { guardCookieWrites } from "./origins.ts";
import { refuse } from "./refusals.ts";
import { appSlug, validQuery } from "./validation.ts";
import { timestamp } from "./views.ts";

export const readWalletQuery = z.object({ app: appSlug.optional() });

/** With `app` this GET writes, so a cookie alone does not suffice from an unknown page. */
const guardGrant = factory.createMiddleware((context, next) =>
  context.req.query("app") === undefined ? next() : guardCookieWrites(context, next),
);

export const readWallet = factory.createHandlers(
  validQuery(readWalletQuery),
  guardGrant,
  async (context) => {
    const { app: slug } = context.req.valid("query");
    const { identity_id } = context.get("principal");
    const { accounts, apps: registry } = context.get("services");
    const app =
      slug === undefined ? null : { slug, starter_credits: await registry.starterCredits(slug) };
    const answer = await accounts(identity_id).wallet(callerOf(context), { app });
    if (!answer.ok) return refuse(context, answer.refusal);
    const { account, apps, app_grant } = answer.value;
    const worth_now = new Map<string, number>();
    for (const { slug, starter_credits, granted_at_ms } of apps) {
      // Where the registry cannot be read, the account's own row stands in.
      if (granted_at_ms === null) {
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
