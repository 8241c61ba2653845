/** Telling a developer or operator what is wrong with settings, before anything starts. */
import { ignoredOperators, mistakenSettings, readConfig } from "../config/config.ts";
import { sayProblem, type SettingProblem } from "../config/problems.ts";
import { PROVIDERS_SETTING } from "./provider_settings.ts";
import { wildcardsOpenToStrangers } from "./wildcards.ts";

/** How to make what nobody writes by hand. */
const ADVICE: Readonly<Record<string, string>> = {
  SIGNING_KEYS: "make one with `npm run -s keys -- create SIGNING_KEYS`",
  ENCRYPTION_KEYS: "make one with `npm run -s keys -- create ENCRYPTION_KEYS`",
};

export interface SettingsReport {
  /** One line for each thing that is wrong; with any, the service would refuse to serve. */
  readonly problems: readonly string[];
  /** One line for each name that nothing reads, and each operator who is nobody. */
  readonly warnings: readonly string[];
}

/** Checks settings as the Worker will. Values are never in the report. */
export function reportSettings(settings: object): SettingsReport {
  const read = readConfig(settings);
  return {
    problems: [
      ...(read.ok ? [] : read.refusal.problems.map(withAdvice)),
      ...openWildcards(settings),
    ],
    warnings: [
      ...mistakenSettings(settings).map(
        ({ name, meant }) => `${name} is no setting and changes nothing; is ${meant} meant?`,
      ),
      ...(read.ok ? ignoredOperators(read.value) : []).map(
        ({ entry, remedy }) => `OPERATORS, entry ${entry}, names nobody. ${remedy}`,
      ),
    ],
  };
}

/** The Worker carries a part of the Public Suffix List; here settings are held to all of it. */
function openWildcards(settings: { readonly ALLOWED_ORIGINS?: unknown }): string[] {
  const { ALLOWED_ORIGINS } = settings;
  if (typeof ALLOWED_ORIGINS !== "string") return [];
  return wildcardsOpenToStrangers(ALLOWED_ORIGINS).map(
    (entry) => `ALLOWED_ORIGINS: ${entry} would let strangers in, who can get names under it`,
  );
}

function withAdvice(problem: SettingProblem): string {
  const advice = problem.where.length === 0 ? ADVICE[problem.variable] : adviceOn(problem);
  return advice === undefined ? sayProblem(problem) : `${sayProblem(problem)}; ${advice}`;
}

/** A provider's endpoints are published where its issuer is known. */
function adviceOn({ variable, where, problem }: SettingProblem): string | undefined {
  const is_endpoint = /^(authorization|token)_endpoint$/.test(where.at(-1) ?? "");
  if (variable !== PROVIDERS_SETTING || !is_endpoint || problem !== "is missing") return undefined;
  return "`npm run -s providers` fetches it from the issuer";
}

/** Prints a report on standard error. @returns whether the service can start with these settings. */
export function printReport({ problems, warnings }: SettingsReport): boolean {
  for (const warning of warnings) console.error(`Warning: ${warning}`);
  if (problems.length === 0) return true;
  console.error(
    problems.length === 1
      ? "A setting is wrong:"
      : `${problems.length} things in the settings are wrong:`,
  );
  for (const problem of problems) console.error(`  ${problem}`);
  return false;
}
