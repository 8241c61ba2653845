/** `POST /api/admin/accounts/suspend`: suspends many accounts for one reason, such as those of a fraud wave. */
import type { Refusal } from "../../../../domain/refusals.ts";
import { suspendMany, suspendManyBody } from "../../../../operator/suspend_many.ts";
import { actingOf } from "../../../caller/acting.ts";
import { endpoint } from "../../endpoint.ts";
import { refusalForError } from "../../../failures.ts";
import { describeRefusal, refuse } from "../../../refusals.ts";

function whyOf(refusal: Refusal): object {
  const { error, code } = describeRefusal(refusal);
  return { error, code };
}

export const suspendAccounts = endpoint(
  {
    at: "POST /api/admin/accounts/suspend",
    role: "support",
    body: suspendManyBody,
  },
  async (context, { body, key }) => {
    const suspended = await suspendMany(await actingOf(context), { ...body, key }, (error) =>
      refusalForError(error, context),
    );
    if (!suspended.ok) return refuse(context, suspended.refusal);
    return context.json({
      results: suspended.value.map(({ identity_id, refusal }) => ({
        identity_id,
        ...(refusal === null ? { ok: true } : whyOf(refusal)),
      })),
    });
  },
);
