/** What a page of the console was asked for, and what its lists show beside what they found. */
import type * as z from "zod/mini";
import { appNames } from "../account/app_names.ts";
import type { AppContext } from "../../http/context.ts";
import { errorName } from "../../domain/result.ts";

/**
 * The query by its schema. A filter that is empty or cannot be meant is none: a page answers with a list,
 * not with a lecture.
 */
export function askedFor<Schema extends z.ZodMiniType>(
  context: AppContext,
  schema: Schema,
): z.output<Schema> {
  const given = Object.entries(context.req.query()).filter(([, value]) => value !== "");
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const wrong = new Set(parsed.error.issues.map(({ path }) => path[0]));
  return schema.parse(Object.fromEntries(given.filter(([name]) => !wrong.has(name))));
}

/** The cursor as it came, null on a list's first page. */
export function cursorOf(context: AppContext): string | null {
  const cursor = context.req.query("cursor") ?? "";
  return cursor === "" ? null : cursor;
}

/** What the read model says; null, with a line in the log, where it does not answer. */
export async function ifReadable<Value>(reading: Promise<Value>): Promise<Value | null> {
  try {
    return await reading;
  } catch (error) {
    const name = errorName(error);
    console.error({ event: "read_model_unreadable", name });
    return null;
  }
}

/** The registered apps to choose from, and the one that is chosen; and each app's name. */
export async function appChoices(context: AppContext, chosen: string | null | undefined) {
  const appName = await appNames(context);
  const registered = await context
    .get("services")
    .apps.all()
    .catch(() => new Map<string, unknown>());
  const slugs = new Set([...registered.keys(), ...(chosen ? [chosen] : [])]);
  const app_options = [...slugs].toSorted().map((slug) => [slug, appName(slug)] as const);
  return { appName, app_options };
}

/** Names people by address or name; an identity that nobody has stands for itself. */
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
