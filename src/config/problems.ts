/** Messages about invalid settings: the variable, the entry or field, and what would be valid. */
import type * as z from "zod/mini";

/** One problem. It never contains a value of the variable, which may be secret. */
export interface SettingProblem {
  readonly variable: string;
  /** The path in the variable: `["entry 2", "client_id"]`; empty: the whole variable. */
  readonly where: readonly string[];
  /** A phrase such as "is missing". */
  readonly problem: string;
}

/** A variable that is not a setting, and the setting that was probably meant. */
export interface MistakenName {
  readonly name: string;
  readonly meant: string;
}

const MISSING = "is missing";

/** The message of an issue without its own. It quotes nothing of the input. */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? MISSING : `must be ${withArticle(issue.expected)}`;
    case "invalid_value":
      return issue.input === undefined
        ? MISSING
        : `must be ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "too_small":
      return issue.origin === "number" || issue.origin === "int"
        ? `must be at least ${issue.minimum}`
        : "must not be empty";
    case "too_big":
      return issue.origin === "number" || issue.origin === "int"
        ? `must be at most ${issue.maximum}`
        : `must have at most ${issue.maximum} characters`;
    case "unrecognized_keys":
      return "has a field that does not belong there";
    case "custom":
    case "invalid_element":
    case "invalid_format":
    case "invalid_key":
    case "invalid_union":
    case "not_multiple_of":
      return "is not valid";
  }
}

/** Adds a problem of a value that a schema transforms. `path`: the path in the value. */
export function addProblem(
  payload: z.core.ParsePayload,
  message: string,
  path: PropertyKey[] = [],
): void {
  payload.issues.push({ code: "custom", input: payload.value, message, path });
}

function withArticle(type: string): string {
  const name = { int: "whole number", record: "object" }[type] ?? type;
  return /^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`;
}

/** All problems that a parse found, in the order of the settings. */
export function readProblems(error: z.core.$ZodError): readonly SettingProblem[] {
  return error.issues.flatMap(flatten).map(({ path: [variable, ...where], message }) => ({
    variable: String(variable ?? "environment"),
    where: where.map((step) => (typeof step === "number" ? `entry ${step + 1}` : String(step))),
    problem: message,
  }));
}

interface Found {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** A union only says that no variant matches. The useful problems are those of the variant that was meant. */
function flatten(issue: z.core.$ZodIssue): readonly Found[] {
  if (issue.code !== "invalid_union") return [issue];
  const [meant = []] = issue.errors.toSorted((one, other) => distance(one) - distance(other));
  return meant.flatMap(flatten).map(({ path, message }) => ({
    path: [...issue.path, ...path],
    message,
  }));
}

/** The distance of an entry from a variant: invalid fields count more than missing ones. */
function distance(issues: readonly z.core.$ZodIssue[]): number {
  const weight = (issue: z.core.$ZodIssue): number => {
    if (issue.code === "unrecognized_keys") return 100 * issue.keys.length;
    return issue.message === MISSING ? 1 : 100;
  };
  return issues.reduce((sum, issue) => sum + weight(issue), 0);
}

/** One problem on a line: `SIGNIN_PROVIDERS, entry 2, client_id: is missing`. */
export function sayProblem({ variable, where, problem }: SettingProblem): string {
  return `${[variable, ...where].join(", ")}: ${problem}`;
}

/**
 * Variables that are not in `known` but look like one of them: a letter lost, added or swapped, or a prefix.
 */
export function findMistakenNames(
  names: readonly string[],
  known: readonly string[],
): readonly MistakenName[] {
  return names
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const meant = known.find((candidate) => looksLike(name.toUpperCase(), candidate));
      return meant === undefined ? [] : [{ name, meant }];
    });
}

function looksLike(name: string, known: string): boolean {
  return name.includes(known) || editDistance(name, known) <= Math.ceil(known.length / 6);
}

/** The number of letters to change, add or remove (Levenshtein). */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of one.split("").entries()) {
    const next = [at + 1];
    for (const [column, wanted] of other.split("").entries()) {
      const [above = 0, corner = 0] = [row[column + 1], row[column]];
      const before = next[column] ?? 0;
      next.push(Math.min(before + 1, above + 1, corner + (letter === wanted ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
