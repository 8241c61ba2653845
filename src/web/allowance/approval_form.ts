/** Reads the choices of a form that gives a token, and turns them into the token's limits. */
import type { AllowanceLimits } from "../../domain/allowance.ts";
import type { SpendingCap } from "../../domain/spending_cap.ts";
import { confirmsUserCode } from "../../domain/device_login.ts";
import { message, type Said } from "../language/text.tsx";
import { APPS_PER_ALLOWANCE_MAX } from "../../domain/limits.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { ApprovalChoices, ApprovalProblems, LimitChoices } from "./choices.tsx";
import { suggestedCap } from "../../domain/consent.ts";
import { capsOfFields, fieldsOfCaps, LIMIT_MISSING, readCapFields } from "./cap_choice.tsx";
import { limitsBody, limitsFrom } from "../../http/allowances/approve_login.ts";

/**
 * The choices that the page starts with: no more than the requesting app needs. It may read and spend for itself only,
 * within the limit that its registration suggests, or a small one. A program that names no app gets all apps.
 */
export function suggestedChoices(
  app_slug: string | null,
  registered: { readonly suggested_cap: SpendingCap | null } | null,
  credits: number,
): ApprovalChoices {
  const is_registered = app_slug !== null && registered !== null;
  return {
    last_letters: "",
    access: "write",
    reach: app_slug === null ? "all" : "some",
    apps: is_registered ? [app_slug] : [],
    other_apps: app_slug === null || is_registered ? "" : app_slug,
    caps: fieldsOfCaps([suggestedCap(registered, credits)]),
    no_limit: false,
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
    caps: readCapFields(form),
    no_limit: form.get("no_limit") !== null,
    upstream: form.get("upstream") !== null,
    admin: form.get("admin") !== null,
  };
}

/**
 * The limits that the choices mean, or the problems by field; also with the problems that the caller found. A missing
 * choice is a problem, never a default.
 */
export function limitsOfChoices(
  choices: LimitChoices,
  suggested: Pick<ApprovalChoices, "apps" | "other_apps">,
  found: ApprovalProblems,
): Result<AllowanceLimits, ApprovalProblems> {
  const { access, reach, upstream, admin } = choices;
  const apps = [...new Set([...choices.apps, ...splitSlugs(choices.other_apps)])];
  const body = {
    scopes: [access, ...(upstream ? ["upstream"] : []), ...(admin ? ["admin"] : [])],
    ...(reach === "all" || apps.length === 0 ? {} : { apps }),
  };
  const limits = limitsBody.safeParse(body);
  const caps = capsOfFields(choices.caps);
  const problems: ApprovalProblems = {
    ...(access === null ? { access: "Choose what it can do." } : {}),
    ...(limits.success ? {} : problemsOf(limits.error.issues, apps)),
    ...creditsProblem(choices, caps),
    ...appsProblem(choices, suggested, apps),
    ...found,
  };
  if (!limits.success || !caps.ok || Object.keys(problems).length > 0) return refused(problems);
  return accepted({ ...limitsFrom(limits.data), caps: caps.value });
}

/** Leaving the limit empty is asked about once more, because then only the balance limits what can be spent. */
function creditsProblem(
  { access, no_limit }: LimitChoices,
  caps: ReturnType<typeof capsOfFields>,
): ApprovalProblems {
  if (!caps.ok) return { credits: caps.refusal };
  const is_missing = access === "write" && caps.value.length === 0 && !no_limit;
  return is_missing ? { credits: LIMIT_MISSING } : {};
}

/** The problem of the letters that confirm a code. */
export function lettersProblem(user_code: string, last_letters: string): ApprovalProblems {
  if (confirmsUserCode(user_code, last_letters)) return {};
  return {
    last_letters:
      last_letters === ""
        ? "Enter the last four letters of the code on your device."
        : "These letters do not match this code. Check your device. If it shows another code, choose Deny.",
  };
}

function splitSlugs(text: string): readonly string[] {
  return text.split(/[\s,;]+/).filter((slug) => slug !== "");
}

/** If apps are named while "All apps" is chosen, the person may have meant a limit, so the form is shown again. */
function appsProblem(
  { reach, apps, other_apps }: LimitChoices,
  suggested: Pick<ApprovalChoices, "apps" | "other_apps">,
  chosen: readonly string[],
): ApprovalProblems {
  if (reach === null) return { apps: "Choose which apps it can use." };
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
  const wrong_app = about("apps");
  return wrong_app === undefined ? {} : { apps: appProblem(apps[Number(wrong_app[1])]) };
}

/** `name`: the invalid slug; undefined if there are too many. */
function appProblem(name: string | undefined): Said {
  if (name === undefined) {
    return message("Choose at most {most} apps, or all.", { most: APPS_PER_ALLOWANCE_MAX });
  }
  return message(
    "“{name}” is not a valid app name. Use lowercase letters, digits, dots, dashes and underscores.",
    { name },
  );
}
