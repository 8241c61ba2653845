/** `PATCH /api/tokens/{id}`: the holder changes a token's name, caps or apps. Without effect on what it has spent. */
import * as z from "zod/mini";
import { isForeignSession } from "../../caller/operator.ts";
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { validBody } from "../../validation.ts";
import { apps, caps } from "../device/approve.ts";
import { clientName } from "../device/client_details.ts";
import { personalTokenView } from "./list.ts";

/** Strict, so that a misspelt limit is not silently ignored. */
export const changeTokenBody = z
  .strictObject({
    label: z.optional(clientName),
    caps: z.optional(caps),
    apps: z.optional(z.nullable(apps)),
  })
  .check(
    z.refine((body) => Object.keys(body).length > 0, {
      error: "must name label, caps or apps",
    }),
  );

/** After `requireBrowserSession`: no token may change what it may do itself. */
export const changePersonalToken = factory.createHandlers(
  validBody(changeTokenBody),
  async (context) => {
    const { apps: app_slugs, ...change } = context.req.valid("json");
    const changed = await accountOf(context).changeAllowance(callerOf(context), {
      ...change,
      app_slugs: app_slugs && [...new Set(app_slugs)],
      id: (context.req.param("id") ?? "").toLowerCase(),
      may_widen: !isForeignSession(context),
    });
    return changed.ok
      ? context.json(personalTokenView(changed.value))
      : refuse(context, changed.refusal);
  },
);
