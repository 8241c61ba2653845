/** `DELETE /api/tokens/{id}`: revokes a personal access token. The next call with it is refused. */
import { accountOf, callerOf } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";

export const revokePersonalToken = endpoint(
  {
    at: "DELETE /api/tokens/{id}",
    caller: "user",
    refusals: ["personal_token_not_found"],
  },
  async (context, { params }) => {
    const id = params.id.toLowerCase();
    const revoked = await accountOf(context).revokeAllowance(callerOf(context), { id });
    return revoked.ok ? context.json({ ok: true }) : refuse(context, revoked.refusal);
  },
);
