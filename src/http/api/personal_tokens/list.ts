/** `GET /api/tokens`: the caller's personal access tokens, without the tokens themselves, which are not stored. */
import type { ListedAllowance } from "../../../account/contract.ts";
import { scopesOf } from "../../../domain/allowance.ts";
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { timestamp } from "../../views.ts";

export function personalTokenView(token: ListedAllowance) {
  const caps = token.caps.map(({ credits, period, spent }) => ({
    credits,
    period,
    spent,
    room: Math.max(0, credits - spent),
  }));
  return {
    id: token.id,
    label: token.label,
    app: token.app_slug,
    scopes: scopesOf(token.limits),
    apps: token.limits.app_slugs,
    cap: caps[0] ?? null,
    current: token.current,
    ends_with_session: token.ends_with_session,
    created_at: timestamp(token.created_at_ms),
    last_used_at: token.last_used_at_ms === null ? null : timestamp(token.last_used_at_ms),
    expires_at: timestamp(token.expires_at_ms),
  };
}

export const listPersonalTokens = factory.createHandlers(async (context) => {
  const account = accountOf(context);
  const listed = await account.listAllowances(callerOf(context));
  if (!listed.ok) return refuse(context, listed.refusal);
  return context.json({ tokens: listed.value.map(personalTokenView) });
});
