/** Options and arguments of an operation's fields. */
import { InvalidArgumentError, Option, type Command } from "commander";
import type { AdminField } from "../client/admin/index.ts";
import { readRule } from "../domain/plans.ts";
import { readCap } from "./tokens.ts";

/** The value of an option that sets a field to null. A parser cannot return null: Commander would make it empty text. */
const NONE = "none";

/** `createdFrom` becomes `created-from`, and `readOAuthClient` becomes `read-oauth-client`. */
export function kebab(name: string): string {
  const words = name.replaceAll("OAuth", "Oauth");
  return words.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The word for a field: one item of a list, and a person or job without "-id". */
export function wordOf({ name, list }: AdminField): string {
  const words = kebab(name);
  return (list === true ? words.replace(/s$/, "") : words).replace(/-id$/, "");
}

/** Adds a field as an argument. */
export function addArgument(command: Command, field: AdminField): void {
  const name =
    field.required === true || field.in === "path" ? `<${wordOf(field)}>` : `[${wordOf(field)}]`;
  command.argument(name, hintOf(field), (text: string) => parse(field, text));
}

/** Adds a field as an option. `must`: whether the command fails without it. */
export function addOption(command: Command, field: AdminField, word: string, must: boolean): void {
  if (field.kind === "flag") {
    command.option(`--${word}`, `sets ${kebab(field.name)}`);
    command.option(`--no-${word}`, `clears ${kebab(field.name)}`);
    return;
  }
  const option = new Option(`--${word} <${valueOf(field)}>`, hintOf(field));
  option.makeOptionMandatory(must);
  if (field.values !== undefined && field.list !== true) option.choices(field.values.map(String));
  else
    option.argParser((text: string, before: unknown) =>
      field.list === true
        ? [...(Array.isArray(before) ? before : []), parse(field, text)]
        : parse(field, text),
    );
  command.addOption(option);
}

/** The field's value for the call. An empty entry means an empty list. */
export function requestValueOf(field: AdminField, given: unknown): unknown {
  if (field.nullable === true && given === NONE) return null;
  return Array.isArray(given) ? given.filter((entry) => entry !== "") : given;
}

/** The value of a required field that nobody gave; undefined: the person must give one. */
export function emptyValueOf({ kind, nullable, list }: AdminField): unknown {
  if (nullable === true) return null;
  if (list === true) return [];
  return kind === "flag" ? false : undefined;
}

function valueOf({ kind, list }: AdminField): string {
  const word = kind === "cap" ? "credits/period" : kind === "rule" ? "credits/every" : kind;
  return word + (list === true ? "..." : "");
}

const EXAMPLES: Partial<Record<AdminField["kind"], string>> = {
  time: "such as 2026-11-21T00:00:00Z",
  day: "such as 2026-11-21",
  cap: "such as 500/month",
  rule: "such as 1000/month, 1000/month:200 to keep 200, or 50/day:0:paint+draw for some apps",
};

function hintOf({ name, kind, list, nullable, values, min, max }: AdminField): string {
  const parts = [
    EXAMPLES[kind] ?? "",
    min === undefined || max === undefined ? "" : `${min} to ${max}`,
    list === true && values !== undefined ? values.join(", ") : "",
    name === "reason" ? "why; the audit log keeps it" : "",
    nullable === true ? `or: ${NONE}` : "",
    list === true ? "none of them: ''" : "",
  ];
  return parts.filter((part) => part !== "").join("; ");
}

/** A rule of a plan. @throws InvalidArgumentError */
function parseRule(text: string): object {
  const rule = readRule(text);
  if (rule !== null) return rule;
  throw new InvalidArgumentError("It must be credits/period, such as 1000/month or 50/day:20.");
}

/** @throws InvalidArgumentError */
function parse(field: AdminField, text: string): unknown {
  if (field.nullable === true && text === NONE) return NONE;
  if (field.kind === "cap") return readCap(text);
  if (field.kind === "rule" && text !== "") return parseRule(text);
  if (field.kind !== "number" || (field.list === true && text === "")) return text;
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = field;
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
}
