/** `POST /device/approve` and `POST /device/deny`: the forms of the device page. */
import { readUserCode } from "../../domain/device_login.ts";
import { DevicePage } from "./device_page.tsx";
import { factory, type AppContext } from "../../http/context.ts";
import { countAttempt } from "../../http/middleware/rate_limits.ts";
import {
  lettersProblem,
  limitsOfChoices,
  readChoices,
  suggestedChoices,
} from "../allowance/approval_form.ts";
import { approveLogin } from "../../http/allowances/approve_login.ts";
import { respondWithRefusal, openLogin, showProblems } from "./show.tsx";

export const approveDevice = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const typed_code = textOf(form, "user_code");
  const limited = await countAttempt(context);
  // The page keeps the whole form, so that the person can send it again after a minute.
  if (limited !== null) return respondWithRefusal(context, limited, typed_code, fieldsOf(form));
  const opened = await openLogin(context, typed_code);
  if (!opened.ok) return respondWithRefusal(context, opened.refusal, typed_code);
  const { user_code, app_slug, app, credits } = opened.value;
  const choices = readChoices(form);
  const wrong_letters = lettersProblem(user_code, choices.last_letters);
  const limits = limitsOfChoices(choices, suggestedChoices(app_slug, app, credits), wrong_letters);
  if (!limits.ok) return showProblems(context, opened.value, choices, limits.refusal);
  const decided = await approveLogin(context, user_code, limits.value);
  if (decided.ok) return context.html(<DevicePage state={{ kind: "approved" }} />);
  return decided.refusal.code === "limit_reached"
    ? showProblems(context, opened.value, choices, { whole: "too_many_tokens" })
    : respondWithRefusal(context, decided.refusal, typed_code);
});

export const denyDevice = factory.createHandlers(async (context) => {
  const typed_code = textOf(await readForm(context), "user_code");
  const limited = await countAttempt(context);
  if (limited !== null) return respondWithRefusal(context, limited, typed_code);
  const user_code = readUserCode(typed_code);
  if (user_code === null)
    return respondWithRefusal(context, { code: "user_code_invalid" }, typed_code);
  const { identity_id } = context.get("caller");
  const decided = await context.get("services").device_logins(user_code).deny(identity_id);
  if (!decided.ok) return respondWithRefusal(context, decided.refusal, typed_code);
  return context.html(<DevicePage state={{ kind: "denied" }} />);
});

/** The request's form; empty if the body is not a form. */
function readForm(context: AppContext): Promise<FormData> {
  return context.req.formData().catch(() => new FormData());
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

function fieldsOf(form: FormData): readonly (readonly [string, string])[] {
  return [...form].flatMap(([name, value]) =>
    typeof value === "string" ? ([[name, value]] as const) : [],
  );
}
