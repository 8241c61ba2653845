/** `PATCH /api/tokens/{id}`: the holder changes a token's name, caps or apps. Without effect on what it has spent. */
import * as z from "zod/mini";
import { isForeignSession } from "../../caller/operator.ts";
import { accountOf, callerOf } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { apps, caps } from "../../allowances/approve_login.ts";
import { clientName } from "../../../fields.ts";
import { personalTokenView } from "./list.ts";

/** Strict, so that a misspelt limit is not silently ignored. */
const changeTokenBody = z
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

/** Only for sessions: no token may change what it may do itself. */
export const changePersonalToken = endpoint(
  {
    at: "PATCH /api/tokens/{id}",
    caller: "session",
    body: changeTokenBody,
    refusals: ["personal_token_not_found"],
  },
  async (context, { params, body: { apps: app_slugs, ...change } }) => {
    const changed = await accountOf(context).changeAllowance(callerOf(context), {
      ...change,
      app_slugs: app_slugs && [...new Set(app_slugs)],
      id: params.id.toLowerCase(),
      may_widen: !isForeignSession(context),
    });
    return changed.ok
      ? context.json(personalTokenView(changed.value))
      : refuse(context, changed.refusal);
  },
);
