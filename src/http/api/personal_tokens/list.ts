/** `GET /api/tokens`: the caller's personal access tokens, without the tokens themselves, which are not stored. */
import type { ListedAllowance } from "../../../account/contract.ts";
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { timestamp } from "../../views.ts";

export function personalTokenView(token: ListedAllowance) {
  const caps = token.caps.map(({ resets_at_ms, ...cap }) => ({
    ...cap,
    room: Math.max(0, cap.credits - cap.spent),
    resets_at: resets_at_ms === null ? null : timestamp(resets_at_ms),
  }));
  const tightest = caps.toSorted((one, other) => one.room - other.room)[0];
  return {
    id: token.id,
    kind: token.kind,
    parent_id: token.parent_id,
    client: token.client_id === null ? null : { id: token.client_id, host: token.client_host },
    resource: token.resource,
    label: token.label,
    app: token.app_slug,
    scopes: token.scopes,
    apps: token.limits.app_slugs,
    cap: tightest ?? null,
    caps,
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
