/** Reads the queries of console pages, and the names that their lists show. */
import type * as z from "zod/mini";
import { appNames } from "../account/apps.ts";
import type { AppContext } from "../../http/context.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { errorName, type Result } from "../../domain/result.ts";
import { describeRefusal } from "../../http/refusals.ts";

/**
 * Parses a page's query. Empty and invalid filters are ignored: for a person, an unfiltered list is more
 * useful than an error.
 */
export function readQuery<Schema extends z.ZodMiniType>(
  context: AppContext,
  schema: Schema,
): z.output<Schema> {
  let given = Object.entries(context.req.query()).filter(([, value]) => value !== "");
  for (;;) {
    const parsed = schema.safeParse(Object.fromEntries(given));
    if (parsed.success) return parsed.data;
    const wrong = new Set(parsed.error.issues.map(({ path }) => path[0]));
    const rest = given.filter(([name]) => !wrong.has(name));
    // Without one field, another may be invalid.
    if (rest.length === given.length) return schema.parse({});
    given = rest;
  }
}

/** The app that the path names. */
export const slugOf = (context: AppContext): string => context.req.param("slug") ?? "";

/** The unparsed cursor; null on the first page. */
export function cursorOf(context: AppContext): string | null {
  const cursor = context.req.query("cursor") ?? "";
  return cursor === "" ? null : cursor;
}

/** Returns null and logs the error if the read model cannot be read, so that the page still works. */
export async function nullIfUnreadable<Value>(reading: Promise<Value>): Promise<Value | null> {
  try {
    return await reading;
  } catch (error) {
    const name = errorName(error);
    console.error({ event: "read_model_unreadable", name });
    return null;
  }
}

/** The sentence of a refused filter, such as an e-mail address that nobody has; null if nothing was refused. */
export function problemOf(result: Result<unknown, Refusal> | null): string | null {
  if (result === null || result.ok) return null;
  const { code } = result.refusal;
  return code === "account_unknown"
    ? "Nobody has this e-mail address."
    : describeRefusal(result.refusal).error;
}

/** The options of an app filter (all registered apps and the chosen one), and each app's name. */
export async function appFilter(context: AppContext, chosen: string | null | undefined) {
  const appName = await appNames(context);
  const registered = await context
    .get("services")
    .apps.all()
    .catch(() => new Map<string, unknown>());
  const slugs = new Set([...registered.keys(), ...(chosen ? [chosen] : [])]);
  const app_options = [...slugs].toSorted().map((slug) => [slug, appName(slug)] as const);
  return { appName, app_options };
}

/** Returns a function from an identity to an e-mail address or name; an unknown identity is shown as it is. */
export async function personNames(
  context: AppContext,
  identity_ids: readonly string[],
): Promise<(identity_id: string) => string> {
  const people = await context.get("services").identity.readPeople([...new Set(identity_ids)]);
  return (identity_id) => {
    const person = people.get(identity_id);
    return person?.email ?? person?.name ?? identity_id;
  };
}
