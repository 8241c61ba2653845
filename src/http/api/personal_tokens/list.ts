/** `GET /api/tokens`: the caller's personal access tokens, without the tokens themselves, which are not stored. */
import type { ListedAllowance } from "../../../account/contract.ts";
import { accountOf, callerOf } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { allowanceView } from "../../views.ts";

export function personalTokenView(token: ListedAllowance) {
  return {
    ...allowanceView(token),
    kind: token.kind,
    parent_id: token.parent_id,
    client: token.client_id === null ? null : { id: token.client_id, host: token.client_host },
    label: token.label,
    app: token.app_slug,
    current: token.current,
  };
}

export const listPersonalTokens = endpoint(
  { at: "GET /api/tokens", caller: "user" },
  async (context) => {
    const account = accountOf(context);
    const listed = await account.listAllowances(callerOf(context));
    if (!listed.ok) return refuse(context, listed.refusal);
    return context.json({ tokens: listed.value.map(personalTokenView) });
  },
);
