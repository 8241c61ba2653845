/** `POST /api/device/complete`: a signed-in browser approves a login by its user code. */
import * as z from "zod/mini";
import { factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { validBody } from "../../validation.ts";
import { approveLogin, hasOneFormOfCaps, limitFields, limitsFrom } from "./approve.ts";

export const completeLoginBody = z
  .strictObject({
    user_code: z.string("must be a string"),
    ...limitFields,
  })
  .check(hasOneFormOfCaps);

export const completeLogin = factory.createHandlers(
  validBody(completeLoginBody),
  async (context) => {
    const { user_code, ...limits } = context.req.valid("json");
    const approved = await approveLogin(context, user_code, limitsFrom(limits));
    return approved.ok ? context.json({ ok: true }) : refuse(context, approved.refusal);
  },
);
