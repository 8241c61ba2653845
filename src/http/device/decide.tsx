/** `POST /device/approve` and `POST /device/deny`: the forms of the device page. */
import * as z from "zod";
import { CAP_PERIODS, TOKEN_ACCESS } from "../../domain/access_token.ts";
import { readUserCode } from "../../domain/device_login.ts";
import { DevicePage } from "../../pages/device.tsx";
import { factory } from "../context.ts";
import { validForm } from "../validation.ts";
import { approveLogin, limitsBody, limitsFrom } from "./approve.ts";
import { countAttempt } from "./limits.ts";
import { answerProblem, answerRefusal } from "./page.tsx";

const denial = z.object({ user_code: z.string() });

/** Form fields are texts; an empty one is a limit that was not chosen. */
const approval = denial.extend({
  access: z.enum(TOKEN_ACCESS).default("write"),
  apps: z.string().default(""),
  credits: z.string().trim().default(""),
  period: z.enum(CAP_PERIODS).default("total"),
});

export const approveDevice = factory.createHandlers(validForm(approval), async (context) => {
  const limited = await countAttempt(context);
  if (limited !== null) return answerRefusal(context, limited);
  const { user_code, ...fields } = context.req.valid("form");
  const limits = limitsBody.safeParse(readFields(fields));
  if (!limits.success) {
    const { path, message } = limits.error.issues[0] ?? { path: [], message: "is not valid" };
    return answerProblem(
      context,
      user_code,
      `${FIELD_NAMES[String(path[0])] ?? "A limit"} ${message}.`,
    );
  }
  const answer = await approveLogin(context, user_code, limitsFrom(limits.data));
  if (!answer.ok) return answerRefusal(context, answer.refusal);
  return context.html(<DevicePage state={{ kind: "approved" }} />);
});

export const denyDevice = factory.createHandlers(validForm(denial), async (context) => {
  const limited = await countAttempt(context);
  if (limited !== null) return answerRefusal(context, limited);
  const user_code = readUserCode(context.req.valid("form").user_code);
  if (user_code === null) return answerRefusal(context, { code: "user_code_invalid" });
  const { identity_id } = context.get("principal");
  const answer = await context.get("services").device_logins(user_code).deny(identity_id);
  if (!answer.ok) return answerRefusal(context, answer.refusal);
  return context.html(<DevicePage state={{ kind: "denied" }} />);
});

const FIELD_NAMES: Readonly<Record<string, string>> = {
  apps: "Each app",
  cap: "The number of credits",
};

/** The form's fields as the API would be sent them. */
function readFields(fields: Omit<z.output<typeof approval>, "user_code">): unknown {
  const apps = fields.apps.split(/[\s,]+/).filter((slug) => slug !== "");
  const credits = /^\d+$/.test(fields.credits) ? Number(fields.credits) : Number.NaN;
  return {
    scopes: [fields.access],
    ...(apps.length === 0 ? {} : { apps }),
    ...(fields.credits === "" ? {} : { cap: { credits, period: fields.period } }),
  };
}
