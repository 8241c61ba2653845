/** `POST /api/device/complete`: a signed-in browser approves a login by its user code. */
import * as z from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { approveLogin, limitFields, limitsFrom } from "../../allowances/approve_login.ts";

const completeLoginBody = z.strictObject({
  user_code: z.string("must be a string"),
  ...limitFields,
});

export const completeDeviceLogin = endpoint(
  {
    at: "POST /api/device/complete",
    caller: "session",
    rate: "attempts",
    body: completeLoginBody,
    refusals: [
      "user_code_invalid",
      "limit_reached:tokens",
      "expired_token",
      "already_used",
      "access_denied",
      "not_operator",
    ],
  },
  async (context, { body: { user_code, ...limits } }) => {
    const approved = await approveLogin(context, user_code, limitsFrom(limits));
    return approved.ok ? context.json({ ok: true }) : refuse(context, approved.refusal);
  },
);
