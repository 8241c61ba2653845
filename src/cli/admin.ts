/**
 * `passbook admin …`: operates the service. Each operation of the API document is a command, with its generated name and
 * its short name. Its commands need a token with the scope `admin`.
 */
import type { Command } from "commander";
import {
  ADMIN_OPERATIONS,
  pagesOf,
  type AdminField,
  type AdminOperation,
} from "../client/admin/index.ts";
import { addAdminArchive } from "./admin_archive.ts";
import { addDirectory } from "./admin_directory.ts";
import { addRecovery } from "./admin_recovery.ts";
import { addCombinations } from "./admin_combinations.ts";
import { addArgument, addOption, kebab, requestValueOf, wordOf } from "./admin_fields.ts";
import { COMBINED, LONG_NAMES, NAMES } from "./admin_names.ts";
import { doneText, readText } from "./admin_response.ts";
import { completeRecord, isRecord } from "./admin_records.ts";
import { print, writePieces } from "./output.ts";
import { adminOf, type GlobalOptions } from "./session.ts";

/** The exit code of a check that found a problem. The other codes are in `main.ts`. */
const EXIT_PROBLEM = 5;

interface Check {
  readonly found: (response: Readonly<Record<string, unknown>>) => boolean;
  readonly advice: string;
}

/** Operations whose response can report a problem, for scripts. */
const CHECKS: Readonly<Record<string, Check>> = {
  inspectHealth: {
    found: ({ status }) => status === "warning",
    advice: "Something needs attention: docs/alerts.md has a paragraph for each figure.",
  },
  testWebhook: {
    found: ({ error }) => error !== null,
    advice: "The receiver did not accept the event.",
  },
};

/** Adds the commands to the program. */
export function addAdmin(program: Command): void {
  const admin = program.command("admin").description("operate the service");
  for (const operation of ADMIN_OPERATIONS) {
    const name = NAMES[operation.id];
    if (name !== undefined) addCommand(below(admin, name.words), operation);
    const hidden = name !== undefined || COMBINED.includes(operation.id);
    const generated = admin
      .command(LONG_NAMES[operation.id] ?? kebab(operation.id), { hidden })
      .alias(operation.id);
    addCommand(generated, operation);
  }
  addCombinations(admin);
  addAdminArchive(admin);
  addDirectory(admin);
  addRecovery(admin);
}

/** The command of these words. The first ones exist. */
function below(admin: Command, words: string): Command {
  return words.split(" ").reduce((parent, word, at, { length }) => {
    const known = parent.commands.find((it) => it.name() === word);
    return at < length - 1 && known !== undefined ? known : parent.command(word);
  }, admin);
}

/** The fields that are arguments, in their order, and the others. */
function fieldsOf({ id, fields }: AdminOperation) {
  const { values = [], all } = NAMES[id] ?? {};
  const named = fields.filter((field) => field.in !== "path");
  return {
    values: [
      ...fields.filter((field) => field.in === "path"),
      ...named.filter(({ name }) => values.includes(name)),
    ],
    // A record's version is read before it is saved.
    options: named.filter(
      ({ name }) =>
        !values.includes(name) &&
        name !== "version" &&
        !(all === true && ["limit", "cursor"].includes(name)),
    ),
  };
}

const optionOf = ({ id }: AdminOperation, field: AdminField): string =>
  NAMES[id]?.options?.[field.name] ?? wordOf(field);

function addCommand(command: Command, operation: AdminOperation): void {
  const { id, summary, description, keyed, csv } = operation;
  command.description(summary.charAt(0).toLowerCase() + summary.slice(1));
  if (description !== undefined) command.addHelpText("after", `\n${description}`);
  const { values, options } = fieldsOf(operation);
  for (const field of values) addArgument(command, field);
  for (const field of options) {
    const must = field.required === true && field.kind !== "flag" && !isRecord(id);
    addOption(command, field, optionOf(operation, field), must);
  }
  const has_list = options.some((field) => optionOf(operation, field) === "csv");
  if (csv === true && !has_list) command.option("--csv", "write CSV");
  if (keyed === true && !isRecord(id))
    command.option("--key <key>", "the idempotency key, for repeating this command safely");
  command.action(() => perform(operation, command));
}

interface Given extends GlobalOptions {
  readonly key?: string;
  readonly csv?: unknown;
  readonly [option: string]: unknown;
}

async function perform(operation: AdminOperation, command: Command): Promise<void> {
  const { admin, options, own } = await adminOf(command.optsWithGlobals<Given>());
  const { id, csv } = operation;
  const path = operation.fields.filter((field) => field.in === "path");
  const in_path = command.processedArgs.slice(0, path.length) as string[];
  const fields = requestFieldsOf(operation, command, own);
  const call = (name: string, more: object = {}): unknown => {
    const rest = operation.fields.length > path.length ? [{ ...fields, ...more }] : [];
    const key = own.key === undefined ? {} : { idempotencyKey: own.key };
    const send = Reflect.get(admin, name) as (...given: readonly unknown[]) => unknown;
    return send(...in_path, ...rest, key);
  };
  if (csv === true && own.csv !== undefined)
    return writePieces(call(`${id}Csv`) as AsyncIterable<string>);
  const record = isRecord(id)
    ? await completeRecord(admin, operation, in_path, fields, (field) => optionOf(operation, field))
    : {};
  const response = await (NAMES[id]?.all === true
    ? allPages((page) => call(id, page) as Promise<Page>)
    : (call(id, record) as Promise<object>));
  show(operation, response, options);
}

/** The call's fields that the person gave. */
function requestFieldsOf(
  operation: AdminOperation,
  command: Command,
  own: Given,
): Readonly<Record<string, unknown>> {
  const { values, options } = fieldsOf(operation);
  const given = [
    ...values.map((field, at) => [field, command.processedArgs[at] as unknown] as const),
    ...options.map((field) => [field, own[camel(optionOf(operation, field))]] as const),
  ];
  const fields = given
    .filter(([field, value]) => field.in !== "path" && value !== undefined)
    .map(([field, value]) => [field.name, requestValueOf(field, value)]);
  return Object.fromEntries(fields) as Readonly<Record<string, unknown>>;
}

/** Commander's name of an option's value. */
const camel = (option: string): string =>
  option.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

type Page = Readonly<Record<string, unknown>> & { readonly next_cursor?: string | undefined };

/** The pages as one, without a cursor. */
async function allPages(
  read: (page: { readonly cursor?: string }) => Promise<Page>,
): Promise<object> {
  let all: Page = {};
  for await (const { next_cursor: _, ...page } of pagesOf(read)) {
    const lists = Object.entries(page).map(([name, value]) => {
      const before = all[name];
      return [name, Array.isArray(value) && Array.isArray(before) ? [...before, ...value] : value];
    });
    all = Object.fromEntries(lists) as Page;
  }
  return all;
}

function show(
  { id, method, shapes }: AdminOperation,
  response: object,
  options: GlobalOptions,
): void {
  // The document says nothing about the fields of a person's data.
  const json = options.json === true || shapes.every((shape) => shape.length === 0);
  const check = CHECKS[id];
  const is_problem = check?.found(response as Page) ?? false;
  print({ json }, response, () => {
    if (method !== "GET" && check === undefined) return doneText(method, response);
    const text = readText(response);
    return is_problem && check !== undefined ? `${text}\n\n${check.advice}` : text;
  });
  if (is_problem) process.exitCode = EXIT_PROBLEM;
}
