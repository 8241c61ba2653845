/** Reads the approval form of the device page and turns its choices into the token's limits. */
import type { PersonalTokenLimits } from "../../domain/personal_token.ts";
import { CAP_PERIODS } from "../../domain/spending_cap.ts";
import { confirmsUserCode } from "../../domain/device_login.ts";
import { APPS_PER_PERSONAL_TOKEN_MAX, COST_MAX_CREDITS } from "../../domain/limits.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { ApprovalChoices, ApprovalProblems } from "./choices.tsx";
import { number } from "../layout/labels.ts";
import { limitsBody, limitsFrom } from "../../http/api/device/approve.ts";

/** The choices that the page starts with: only the requesting app if it is registered, otherwise all apps. */
export function suggestedChoices(app_slug: string | null, registered: boolean): ApprovalChoices {
  return {
    last_letters: "",
    access: "write",
    reach: app_slug !== null && registered ? "some" : "all",
    apps: app_slug !== null && registered ? [app_slug] : [],
    other_apps: app_slug === null || registered ? "" : app_slug,
    credits: "",
    period: "total",
    upstream: false,
    admin: false,
  };
}

/** The choices of a form that was sent; null for a choice that is missing or unknown. */
export function readChoices(form: FormData): ApprovalChoices {
  const text = (name: string) => {
    const value = form.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
  const oneOf = <Value extends string>(values: readonly Value[], name: string) =>
    values.find((value) => value === text(name)) ?? null;
  return {
    last_letters: text("last_letters"),
    access: oneOf(["read", "write"] as const, "access"),
    reach: oneOf(["some", "all"] as const, "reach"),
    apps: form.getAll("app").filter((slug) => typeof slug === "string"),
    other_apps: text("other_apps"),
    credits: text("credits"),
    period: oneOf(CAP_PERIODS, "period"),
    upstream: form.get("upstream") !== null,
    admin: form.get("admin") !== null,
  };
}

/** The limits that the choices mean, or the problems by field. A missing choice is a problem, never a default. */
export function limitsOfChoices(
  choices: ApprovalChoices,
  suggested: ApprovalChoices,
  user_code: string,
): Result<PersonalTokenLimits, ApprovalProblems> {
  const { access, reach, period, upstream, admin, credits } = choices;
  const apps = [...new Set([...choices.apps, ...splitSlugs(choices.other_apps)])];
  const body = {
    scopes: [access, ...(upstream ? ["upstream"] : []), ...(admin ? ["admin"] : [])],
    ...(reach === "all" || apps.length === 0 ? {} : { apps }),
    ...(credits === "" ? {} : { cap: { credits: readWholeNumber(credits), period } }),
  };
  const limits = limitsBody.safeParse(body);
  const problems: ApprovalProblems = {
    ...(access === null ? { access: "Choose what the device can do." } : {}),
    ...(limits.success ? {} : problemsOf(limits.error.issues, apps)),
    ...appsProblem(choices, suggested, apps),
    ...(confirmsUserCode(user_code, choices.last_letters) ? {} : lettersProblem(choices)),
  };
  if (!limits.success || Object.keys(problems).length > 0) return refused(problems);
  return accepted(limitsFrom(limits.data));
}

function splitSlugs(text: string): readonly string[] {
  return text.split(/[\s,;]+/).filter((slug) => slug !== "");
}

function readWholeNumber(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** If apps are named while "All apps" is chosen, the person may have meant a limit, so the form is shown again. */
function appsProblem(
  { reach, apps, other_apps }: ApprovalChoices,
  suggested: ApprovalChoices,
  chosen: readonly string[],
): ApprovalProblems {
  if (reach === null) return { apps: "Choose which apps the device can use." };
  if (reach === "some")
    return chosen.length > 0 ? {} : { apps: "Choose at least one app, or choose all apps." };
  const as_suggested =
    apps.every((slug) => suggested.apps.includes(slug)) &&
    (other_apps === "" || other_apps === suggested.other_apps);
  return as_suggested
    ? {}
    : { apps: "You selected single apps and all apps. Choose one of the two." };
}

/** The problems of the API's schema as sentences about the form's fields. */
function problemsOf(
  issues: readonly { readonly path: readonly PropertyKey[] }[],
  apps: readonly string[],
): ApprovalProblems {
  const about = (name: string) => issues.find(({ path }) => path[0] === name)?.path;
  const [wrong_app, wrong_cap] = [about("apps"), about("cap")];
  return {
    ...(wrong_app === undefined ? {} : { apps: appProblem(apps[Number(wrong_app[1])]) }),
    ...(wrong_cap === undefined ? {} : { credits: creditsProblem() }),
  };
}

function creditsProblem(): string {
  return `Enter a whole number of credits from 0 to ${number(COST_MAX_CREDITS)}, or leave the field empty for no limit.`;
}

/** `name`: the invalid slug; undefined if there are too many. */
function appProblem(name: string | undefined): string {
  if (name === undefined) return `Choose at most ${APPS_PER_PERSONAL_TOKEN_MAX} apps, or all.`;
  return `“${name}” is not a valid app name. Use lowercase letters, digits, dots, dashes and underscores.`;
}

function lettersProblem({ last_letters }: ApprovalChoices): ApprovalProblems {
  return {
    last_letters:
      last_letters === ""
        ? "Enter the last four letters of the code on your device."
        : "These letters do not match this code. Check your device. If it shows another code, choose Deny.",
  };
}
