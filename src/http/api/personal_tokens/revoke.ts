/** `DELETE /api/tokens/{id}`: ends a personal access token's life, from the next call on. */
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";

export const revokePersonalToken = factory.createHandlers(async (context) => {
  const account = accountOf(context);
  const id = (context.req.param("id") ?? "").toLowerCase();
  const answer = await account.revokePersonalToken(callerOf(context), { id });
  return answer.ok ? context.json({ ok: true }) : refuse(context, answer.refusal);
});
