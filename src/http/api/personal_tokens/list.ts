/** `GET /api/tokens`: the caller's personal access tokens, without the tokens themselves, which are not stored. */
import type { ListedPersonalToken } from "../../../account/contract.ts";
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { timestamp } from "../../views.ts";

/** The scopes in the form of the API. */
function scopesOf({ access, upstream, admin }: ListedPersonalToken["limits"]): readonly string[] {
  return [
    ...(access === "none" ? [] : ["read"]),
    ...(access === "write" ? ["write"] : []),
    ...(upstream ? ["upstream"] : []),
    ...(admin ? ["admin"] : []),
  ];
}

export function personalTokenView(token: ListedPersonalToken) {
  const { app_slugs, cap } = token.limits;
  const spent = token.spent ?? 0;
  return {
    id: token.id,
    label: token.label,
    app: token.app_slug,
    scopes: scopesOf(token.limits),
    apps: app_slugs,
    cap: cap === null ? null : { ...cap, spent, room: Math.max(0, cap.credits - spent) },
    current: token.current,
    ends_with_session: token.ends_with_session,
    created_at: timestamp(token.created_at_ms),
    last_used_at: token.last_used_at_ms === null ? null : timestamp(token.last_used_at_ms),
    expires_at: timestamp(token.expires_at_ms),
  };
}

export const listPersonalTokens = factory.createHandlers(async (context) => {
  const account = accountOf(context);
  const listed = await account.listPersonalTokens(callerOf(context));
  if (!listed.ok) return refuse(context, listed.refusal);
  return context.json({ tokens: listed.value.map(personalTokenView) });
});
