/** `passbook-client/admin`: the operators' calls. Other callers get `not_operator`. */
import { createCalls, type WriteOptions } from "../calls.ts";
import { serviceCallerOf, type ClientOptions, type ServiceCaller } from "../client.ts";
import { readRefusal, type OpenCall } from "../transport.ts";
import type { AdminOperation } from "./operation.ts";
import { ADMIN_OPERATIONS, type AdminCalls } from "./operator_calls.ts";

export type { AdminField, AdminOperation } from "./operation.ts";
export { ADMIN_OPERATIONS, type AdminCalls, type Done, type PageFields } from "./operator_calls.ts";

/**
 * Makes a client for operators. It sends nothing yet. Its calls have the names of the API document. They take the values of
 * the path, then the other fields in camelCase, then options, and throw `PassbookError`. Retries are safe, since every write
 * has an idempotency key: a new one for each call if `idempotencyKey` is omitted. Where the API takes an identity, it also
 * takes the person's e-mail address.
 * @throws PassbookError `invalid_argument` if an option is invalid.
 */
export function createAdmin(options: ClientOptions): AdminCalls {
  const caller = serviceCallerOf(options);
  const calls = ADMIN_OPERATIONS.flatMap((operation) => {
    const call = (...given: readonly unknown[]) => send(caller, operation, given);
    const csv = (...given: readonly unknown[]) => readCsv(caller, operation, given);
    return [[operation.id, call], ...(operation.csv === true ? [[`${operation.id}Csv`, csv]] : [])];
  });
  return Object.fromEntries(calls) as AdminCalls;
}

/**
 * All pages of a list, one after another:
 * `for await (const { jobs } of pagesOf((page) => admin.findJobs({ app: "sketch", ...page }))) …`
 */
export async function* pagesOf<Page extends { readonly next_cursor?: string | undefined }>(
  read: (page: { readonly cursor?: string }) => Promise<Page>,
): AsyncGenerator<Page, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor === undefined ? {} : { cursor });
    yield page;
    cursor = page.next_cursor;
  } while (cursor !== undefined);
}

interface Request {
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | Date>>;
  readonly body: object | undefined;
  readonly options: WriteOptions;
}

/** The API's name of a field. */
const snake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The request for the arguments of a call. */
function requestOf({ path, fields }: AdminOperation, given: readonly unknown[]): Request {
  const in_path = fields.filter((field) => field.in === "path");
  const named = fields.filter((field) => field.in !== "path");
  const rest = given.slice(in_path.length);
  const values = (named.length > 0 ? rest.shift() : undefined) ?? {};
  const valuesIn = (place: "query" | "body") =>
    Object.fromEntries(
      named
        .filter((field) => field.in === place)
        .map(({ name }) => [snake(name), Reflect.get(values, name) as unknown])
        .filter(([, value]) => value !== undefined),
    );
  const query = Object.entries(valuesIn("query")).map(([name, value]) => [
    name,
    typeof value === "boolean" ? String(value) : value,
  ]);
  return {
    path: in_path.reduce(
      (filled, { name }, at) =>
        filled.replace(`{${snake(name)}}`, () => encodeURIComponent(String(given[at]))),
      path,
    ),
    query: Object.fromEntries(query) as Request["query"],
    body: fields.some((field) => field.in === "body") ? valuesIn("body") : undefined,
    options: rest[0] ?? {},
  };
}

async function send(
  { transport, credentials }: ServiceCaller,
  operation: AdminOperation,
  given: readonly unknown[],
): Promise<object> {
  const { options, ...request } = requestOf(operation, given);
  const isValid = (body: { readonly ok?: unknown }): boolean =>
    operation.shapes.some((shape) =>
      shape.every((name) => (name === "ok" ? body.ok === true : name in body)),
    );
  const calls = createCalls(transport, credentials);
  return operation.keyed === true
    ? calls.write({ method: operation.method, ...request, isValid }, options)
    : calls.read({ ...request, signal: options.signal, isValid });
}

/** The response as text, in pieces. @throws PassbookError if it was refused, or the connection broke. */
async function* readCsv(
  { transport, credentials }: ServiceCaller,
  operation: AdminOperation,
  given: readonly unknown[],
): AsyncGenerator<string, void, undefined> {
  const { path, query, options } = requestOf(operation, given);
  const signal = options.signal ?? new AbortController().signal;
  const call: OpenCall = { path, query, credentials, accept: "text/csv", signal };
  const response = await transport.open(call);
  if (response.status !== 200) throw readRefusal(response, await response.text());
  const reader = response.body?.getReader();
  if (reader === undefined) return yield await response.text();
  const decoder = new TextDecoder();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    yield decoder.decode(part.value, { stream: true });
  }
}
