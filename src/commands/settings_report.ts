/** Reports wrong settings to a developer or operator before anything starts. */
import { ignoredOperators, mistakenSettings, readConfig } from "../config/config.ts";
import { sayProblem, type SettingProblem } from "../config/problems.ts";
import { PROVIDERS_SETTING } from "./provider_settings.ts";
import { wildcardsOpenToStrangers } from "./wildcards.ts";

/** How to create values that nobody writes by hand. */
const ADVICE: Readonly<Record<string, string>> = {
  SIGNING_KEYS: "make one with `npm run -s keys -- create SIGNING_KEYS`",
  ID_TOKEN_KEYS: "make one with `npm run -s keys -- create ID_TOKEN_KEYS`",
  ENCRYPTION_KEYS: "make one with `npm run -s keys -- create ENCRYPTION_KEYS`",
};

export interface SettingsReport {
  /** One line for each problem. With any problem the service would refuse all requests. */
  readonly problems: readonly string[];
  /** One line for each unknown setting, and for each operator entry without effect. */
  readonly warnings: readonly string[];
}

/** Checks settings as the Worker does. The report has no values. */
export function reportSettings(settings: object): SettingsReport {
  const read = readConfig(settings);
  return {
    problems: [
      ...(read.ok ? [] : read.refusal.problems.map(withAdvice)),
      ...openWildcards(settings),
    ],
    warnings: [
      ...mistakenSettings(settings).map(
        ({ name, meant }) => `${name} is not a setting and has no effect. Did you mean ${meant}?`,
      ),
      ...(read.ok ? ignoredOperators(read.value) : []).map(
        ({ entry, remedy }) => `OPERATORS, entry ${entry}, has no effect. ${remedy}`,
      ),
    ],
  };
}

/** The Worker checks wildcards against a part of the Public Suffix List; this checks the whole list. */
function openWildcards(settings: { readonly ALLOWED_ORIGINS?: unknown }): string[] {
  const { ALLOWED_ORIGINS } = settings;
  if (typeof ALLOWED_ORIGINS !== "string") return [];
  return wildcardsOpenToStrangers(ALLOWED_ORIGINS).map(
    (entry) =>
      `ALLOWED_ORIGINS: ${entry} would allow strangers, since anyone can register a name under it`,
  );
}

function withAdvice(problem: SettingProblem): string {
  const advice = problem.where.length === 0 ? ADVICE[problem.variable] : adviceOn(problem);
  return advice === undefined ? sayProblem(problem) : `${sayProblem(problem)}; ${advice}`;
}

/** An issuer publishes its endpoints, so a missing one can be fetched. */
function adviceOn({ variable, where, problem }: SettingProblem): string | undefined {
  const is_endpoint = /^(authorization|token)_endpoint$/.test(where.at(-1) ?? "");
  if (variable !== PROVIDERS_SETTING || !is_endpoint || problem !== "is missing") return undefined;
  return "`npm run -s providers` fetches it from the issuer";
}

/**
 * Warnings about a service that nobody can use. `settings` lacks the secrets that Cloudflare has, so this is no problem
 * that stops a deployment.
 */
export function unusableWarnings(
  settings: Readonly<Record<string, unknown>>,
  config_file: string,
): readonly string[] {
  const lacks = (name: string): boolean => {
    const value = settings[name] ?? "";
    return typeof value === "string" && /^\s*(?:\[\s*\]\s*)?$/.test(value);
  };
  const unless = "unless Cloudflare already has this secret";
  return [
    ...(lacks(PROVIDERS_SETTING) && !hasPasskeys(settings)
      ? [
          `${PROVIDERS_SETTING} is not set, so nobody can sign in, ${unless}. Add it to the file of --secrets (docs/signing-in.md).`,
        ]
      : []),
    ...(lacks("OPERATORS")
      ? [
          `OPERATORS is not set, so nobody can use the console, ${unless}. Add your own address to ${config_file} (docs/operators.md).`,
        ]
      : []),
  ];
}

/** Whether people may sign in with passkeys, for which no provider is needed. */
export function hasPasskeys(settings: Readonly<Record<string, unknown>>): boolean {
  const { SIGNIN_METHODS = "" } = settings;
  return typeof SIGNIN_METHODS === "string" && /\bpasskey\b/.test(SIGNIN_METHODS);
}

/** Prints a report on standard error. @returns whether the service can start with these settings. */
export function printReport({ problems, warnings }: SettingsReport): boolean {
  for (const warning of warnings) console.error(`Warning: ${warning}`);
  if (problems.length === 0) return true;
  console.error(
    problems.length === 1 ? "A setting is wrong:" : `${problems.length} settings are wrong:`,
  );
  for (const problem of problems) console.error(`  ${problem}`);
  return false;
}
