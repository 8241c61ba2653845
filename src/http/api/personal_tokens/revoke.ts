/** `DELETE /api/tokens/{id}`: revokes a personal access token. The next call with it is refused. */
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";

export const revokePersonalToken = factory.createHandlers(async (context) => {
  const account = accountOf(context);
  const id = (context.req.param("id") ?? "").toLowerCase();
  const revoked = await account.revokeAllowance(callerOf(context), { id });
  return revoked.ok ? context.json({ ok: true }) : refuse(context, revoked.refusal);
});
