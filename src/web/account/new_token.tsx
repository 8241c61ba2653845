/** `GET` and `POST /account/tokens/new`: the holder makes a personal token without a device. */
import type { Answer } from "../../account/contract.ts";
import { suggestedCap } from "../../domain/consent.ts";
import { accepted } from "../../domain/result.ts";
import { fieldsOfCaps } from "../allowance/cap_choice.tsx";
import { clientName } from "../../fields.ts";
import { grantToken } from "../../http/allowances/approve_login.ts";
import { accountOf, callerOf, factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { limitsOfChoices, readChoices } from "../allowance/approval_form.ts";
import type { ApprovalProblems } from "../allowance/choices.tsx";
import { lifetimes, readLifetime, readOffered } from "../allowance/offered.ts";
import { MadeTokenPage, NewTokenPage, type NewTokenChoices } from "./new_token_page.tsx";

const SUGGESTED_DAYS = 30;

/** Suggests no apps, because nothing says what the token is for. */
export const showNewToken = factory.createHandlers(async (context) => {
  const credits = await readCredits(context);
  if (!credits.ok) return refuseWithPage(context, credits.refusal);
  const choices = {
    label: "",
    days: Math.min(SUGGESTED_DAYS, context.get("services").config.pat_ttl_days),
    access: "write",
    reach: null,
    apps: [],
    other_apps: "",
    caps: fieldsOfCaps([suggestedCap(null, credits.value)]),
    no_limit: false,
    upstream: false,
    admin: false,
  } as const;
  return showForm(context, choices, {});
});

/** The token is in this response only, and is not stored. A redirect would need it in its URL. */
export const makeToken = factory.createHandlers(async (context) => {
  const form = await context.req.formData().catch(() => new FormData());
  const typed = form.get("label");
  const days = readLifetime(context, form);
  const choices = {
    ...readChoices(form),
    label: typeof typed === "string" ? typed : "",
    days,
  };
  const label = clientName.safeParse(choices.label);
  const problems: ApprovalProblems = {
    ...(label.success ? {} : { label: "Give the token a name of up to 80 visible characters." }),
    ...(days === null ? { days: "Choose when the token expires." } : {}),
  };
  const limits = limitsOfChoices(choices, { apps: [], other_apps: "" }, problems);
  if (!limits.ok) return showForm(context, choices, limits.refusal);
  if (!label.success || days === null) return showForm(context, choices, problems);
  const grant = await grantToken(context, limits.value);
  const made = grant.ok
    ? await context.get("services").mint_personal_token(context.get("base_url"), grant.value, {
        label: label.data,
        app_slug: null,
        ttl_days: days,
      })
    : grant;
  if (made.ok) {
    return context.html(<MadeTokenPage label={label.data} token={made.value} days={days} />);
  }
  return made.refusal.code === "limit_reached"
    ? showForm(context, choices, { whole: "too_many_tokens" })
    : refuseWithPage(context, made.refusal);
});

async function readCredits(context: AppContext): Promise<Answer<number>> {
  const wallet = await accountOf(context).wallet(callerOf(context), { app: null });
  return wallet.ok ? accepted(wallet.value.account.credits) : wallet;
}

async function showForm(
  context: AppContext,
  choices: NewTokenChoices,
  problems: ApprovalProblems,
): Promise<Response> {
  const [offered, credits] = await Promise.all([readOffered(context), readCredits(context)]);
  if (!credits.ok) return refuseWithPage(context, credits.refusal);
  const page = (
    <NewTokenPage
      choices={choices}
      problems={problems}
      offered={offered}
      balance={credits.value}
      lifetimes={lifetimes(context)}
    />
  );
  return context.html(page, Object.keys(problems).length === 0 ? 200 : 400);
}
