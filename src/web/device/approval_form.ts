/** The form of the device page: what was chosen, kept as it was typed, and what it comes to. */
import { CAP_PERIODS, type PersonalTokenLimits } from "../../domain/personal_token.ts";
import { confirmsUserCode } from "../../domain/device_login.ts";
import { APPS_PER_PERSONAL_TOKEN_MAX, COST_MAX_CREDITS } from "../../domain/limits.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { ApprovalChoices, ApprovalProblems } from "./choices.tsx";
import { number } from "../layout/account_words.ts";
import { limitsBody, limitsFrom } from "../../http/api/device/approve.ts";

/** What the page suggests: everything, or the asking app alone where operators know it. */
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

/** The choices of a form that was sent; null where nothing or nonsense was chosen. */
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

/** The limits that the choices come to, or what is wrong with which. Nothing is ever assumed. */
export function limitsOfChoices(
  choices: ApprovalChoices,
  suggested: ApprovalChoices,
  user_code: string,
): Result<PersonalTokenLimits, ApprovalProblems> {
  const { access, reach, period, upstream, admin, credits } = choices;
  const apps = [...new Set([...choices.apps, ...splitNames(choices.other_apps)])];
  const body = {
    scopes: [access, ...(upstream ? ["upstream"] : []), ...(admin ? ["admin"] : [])],
    ...(reach === "all" || apps.length === 0 ? {} : { apps }),
    ...(credits === "" ? {} : { cap: { credits: readWhole(credits), period } }),
  };
  const limits = limitsBody.safeParse(body);
  const problems: ApprovalProblems = {
    ...(access === null ? { access: "Choose what it may do." } : {}),
    ...(limits.success ? {} : wordsOf(limits.error.issues, apps)),
    ...appsProblem(choices, suggested, apps),
    ...(confirmsUserCode(user_code, choices.last_letters) ? {} : lettersProblem(choices)),
  };
  if (!limits.success || Object.keys(problems).length > 0) return refused(problems);
  return accepted(limitsFrom(limits.data));
}

function splitNames(text: string): readonly string[] {
  return text.split(/[\s,;]+/).filter((slug) => slug !== "");
}

function readWhole(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** Apps that somebody chose while "all apps" was set may be meant as the limit: better asked. */
function appsProblem(
  { reach, apps, other_apps }: ApprovalChoices,
  suggested: ApprovalChoices,
  chosen: readonly string[],
): ApprovalProblems {
  if (reach === null) return { apps: "Choose for which apps." };
  if (reach === "some")
    return chosen.length > 0 ? {} : { apps: "Name an app, or choose all apps." };
  const as_suggested =
    apps.every((slug) => suggested.apps.includes(slug)) &&
    (other_apps === "" || other_apps === suggested.other_apps);
  return as_suggested ? {} : { apps: "You named apps and chose all apps. Choose one of the two." };
}

/** What zod found, in the words of the form's fields. */
function wordsOf(
  issues: readonly { readonly path: readonly PropertyKey[] }[],
  apps: readonly string[],
): ApprovalProblems {
  const about = (name: string) => issues.find(({ path }) => path[0] === name)?.path;
  const [wrong_app, wrong_cap] = [about("apps"), about("cap")];
  return {
    ...(wrong_app === undefined ? {} : { apps: appWords(apps[Number(wrong_app[1])]) }),
    ...(wrong_cap === undefined ? {} : { credits: creditsWords() }),
  };
}

function creditsWords(): string {
  return `Type a whole number of credits up to ${number(COST_MAX_CREDITS)}, or nothing for no limit.`;
}

/** `name`: the one that is none; undefined where there are too many. */
function appWords(name: string | undefined): string {
  if (name === undefined) return `Choose at most ${APPS_PER_PERSONAL_TOKEN_MAX} apps, or all.`;
  return `“${name}” is no app’s short name: those have small letters, digits, dots, dashes and underscores only.`;
}

function lettersProblem({ last_letters }: ApprovalChoices): ApprovalProblems {
  return {
    last_letters:
      last_letters === ""
        ? "Type the last four letters of the code on your device."
        : "These are not the last letters of this code. If your device shows another code, deny.",
  };
}
