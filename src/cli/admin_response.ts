/** Responses to operators' commands as text. The columns and rows are the fields of the response. */
import { moneyText, type StartedBy } from "../client/index.ts";
import { more, plain, table } from "./output.ts";
import { entryTable, starterText } from "./show.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The fields that contain a secret, which only the first response shows. */
const SECRETS = ["key", "secret", "client_secret"];

/** Not shown: the page's cursor has a line of its own, and `ok` is the first word. */
const HIDDEN = ["ok", "as_of", "next_cursor", ...SECRETS];

/** These columns come first; ids are long and come last. */
const FIRST_COLUMNS = ["slug", "email", "label", "name", "at", "day", "created_at"];

/** The result of a read. */
export function readText(response: object): string {
  const parts = partsOf(response);
  const cursor = (response as { readonly next_cursor?: string }).next_cursor;
  const lists = Object.entries(response).filter(([, value]) => Array.isArray(value));
  const nothing = `No ${words(lists[0]?.[0] ?? "entries")}.`;
  return (parts.length === 0 ? nothing : parts.join("\n\n")) + more(cursor);
}

/** The result of an act. */
export function doneText(method: string, response: object): string {
  const { credits, entry, ...rest } = response as Fields & { readonly entry?: never };
  const secret = SECRETS.map((name) => rest[name]).find((value) => value !== undefined);
  // The response that saves an old record has no secret to show.
  const is_lost = secret === null && method !== "PUT";
  const lines = [
    typeof secret === "string" ? `${plain(secret)}\n\nStore it now: it is shown only once.` : "",
    is_lost ? "The secret was in an earlier response. If that was lost, make another one." : "",
    typeof credits === "number" ? `Done. The balance is ${credits} credits.` : "",
    entry === undefined ? "" : entryTable([entry]),
  ].filter((line) => line !== "");
  const shows_record = method === "PUT" || method === "PATCH";
  const own = Object.entries(rest).filter(([, value]) => shows_record || !isObject(value));
  const parts = entry === undefined ? partsOf(Object.fromEntries(own)) : [];
  return [...(lines.length === 0 ? ["Done."] : lines), ...parts].join("\n\n");
}

/**
 * A table of the values, and one of each list. Objects around records are unwrapped, but not those in a record, which has an
 * id: an app chooses the names in a job's metadata. Objects with the same fields, such as the figures of a month, are one table.
 */
function partsOf(response: object): readonly string[] {
  const fields = Object.entries(response).filter(([name]) => !HIDDEN.includes(name));
  const lists = fields.filter(([, value]) => isList(value) && value.length > 0);
  const alike = "id" in response ? {} : recordsAlike(fields);
  const values = fields.filter(([name, value]) => !isList(value) && !(name in alike));
  const own = Object.fromEntries(
    values.flatMap(([name, value]) =>
      isObject(value) && !("id" in response) ? Object.entries(value) : [[name, value as unknown]],
    ),
  );
  const rows = Object.entries(own).map(([name, value]) => [name, cellOf(value)]);
  const is_alone = rows.length === 0 && lists.length === 1;
  return [
    ...(rows.length === 0 ? [] : [table(["FIELD", "VALUE"], rows)]),
    ...(Object.keys(alike).length === 0 ? [] : [recordsText(alike)]),
    ...lists.map(([name, list]) => {
      const text = rowsText(list as readonly Fields[]);
      return is_alone ? text : `${words(name).toUpperCase()}\n${text}`;
    }),
  ];
}

/** The objects among the fields, if there are several and all have the same fields. */
function recordsAlike(fields: readonly (readonly [string, unknown])[]): Record<string, Fields> {
  const records = fields.flatMap(([name, value]) =>
    isObject(value) ? [[name, value] as const] : [],
  );
  const shapes = new Set(records.map(([, record]) => Object.keys(record).join(" ")));
  return records.length > 1 && shapes.size === 1 ? Object.fromEntries(records) : {};
}

function recordsText(records: Readonly<Record<string, Fields>>): string {
  const columns = Object.keys(Object.values(records)[0] ?? {});
  return table(
    ["FIELD", ...columns.map((name) => words(name).toUpperCase())],
    Object.entries(records).map(([name, record]) => [
      name,
      ...columns.map((column) => cellOf(record[column])),
    ]),
  );
}

/** The rows, without columns that are empty. */
function rowsText(rows: readonly Fields[]): string {
  const rank = (name: string): number => {
    const at = FIRST_COLUMNS.indexOf(name);
    if (at >= 0) return at - FIRST_COLUMNS.length;
    return name === "id" || name.endsWith("_id") ? 1 : 0;
  };
  const cells = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, cellOf(value, name, row)]),
    ),
  );
  const names = [...new Set(cells.flatMap(Object.keys))]
    .filter((name) => cells.some((row) => (row[name] ?? "") !== ""))
    .toSorted((a, b) => rank(a) - rank(b));
  return table(
    names.map((name) => words(name).toUpperCase()),
    cells.map((row) => names.map((name) => row[name] ?? "")),
  );
}

function cellOf(value: unknown, name = "", { currency }: Fields = {}): string {
  if (typeof value === "number" && typeof currency === "string" && name.endsWith("_minor")) {
    return moneyText(value, currency);
  }
  if (Array.isArray(value) && value.every((it) => typeof it !== "object")) return value.join(" ");
  if (value === null || value === undefined) return "";
  if (name === "by" && isObject(value)) return starterText(value as unknown as StartedBy);
  return typeof value === "string" ? value : JSON.stringify(value);
}

const words = (name: string): string => name.replaceAll("_", " ");

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether it is a list of rows. */
function isList(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.every(isObject);
}
