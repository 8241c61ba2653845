/** Records that are saved as a whole: the command reads the record first, for its version and for settings that nobody named. */
import {
  pagesOf,
  type AdminCalls,
  type AdminField,
  type AdminOperation,
} from "../client/admin/index.ts";
import { PassbookError } from "../client/index.ts";
import { emptyValueOf, kebab } from "./admin_fields.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Where the record of an operation is. The API has no call that reads one app or one webhook. */
const READS: Readonly<
  Record<string, (admin: AdminCalls, slug: string, id: string) => Promise<object | undefined>>
> = {
  saveApp: findApp,
  changeApp: findApp,
  saveOAuthClient: async (admin, slug, id) =>
    (await admin.listOAuthClients(slug)).clients.find((it) => it.id === id),
  saveResource: async (admin, slug, id) =>
    (await admin.listResources(slug)).resources.find((it) => it.id === id),
  savePlan: async (admin, id) => (await admin.listPlans()).plans.find((plan) => plan.id === id),
  saveWebhook: async (admin, slug, id) =>
    (await admin.listWebhooks(slug)).webhooks.find((it) => it.id === id),
};

async function findApp(admin: AdminCalls, slug: string): Promise<object | undefined> {
  for await (const { apps } of pagesOf((page) => admin.listApps(page))) {
    const known = apps.find((app) => app.slug === slug);
    if (known !== undefined) return known;
  }
  return undefined;
}

/** Optional fields that the API sets to false or empty if a request omits them. It keeps all others. */
const NOT_KEPT = ["postLogoutRedirectUris", "pkceOptional", "charges"];

/** Whether the operation saves a record. */
export function isRecord(id: string): boolean {
  return id in READS;
}

/**
 * The fields of a save. Omitted settings keep their values. A new app needs its starter credits: in development an
 * unregistered slug has default starter credits, which must not silently become 0.
 * @throws PassbookError `invalid_argument`
 */
export async function completeRecord(
  admin: AdminCalls,
  operation: AdminOperation,
  [slug = "", id = ""]: readonly string[],
  given: Fields,
  optionOf: (field: AdminField) => string,
): Promise<Fields> {
  const known = (await READS[operation.id]?.(admin, slug, id)) as Fields | undefined;
  const body = operation.fields.filter(({ in: place }) => place === "body");
  if (known === undefined && body.some(({ name, required }) => name === "version" && required)) {
    throw new PassbookError("invalid_argument", `${slug} is not registered.`);
  }
  const kept = body
    .filter(({ required, name }) => name !== "version" && (required || NOT_KEPT.includes(name)))
    .map((field) => {
      const name = kebab(field.name).replaceAll("-", "_");
      const before = known === undefined ? emptyValueOf(field) : known[name];
      return { field, value: given[field.name] ?? before };
    });
  const missing = kept.filter(({ field, value }) => field.required && value === undefined);
  if (missing.length > 0) {
    const options = missing.map(({ field }) => `--${optionOf(field)}`).join(" and ");
    const message = `${id === "" ? slug : id} is not registered yet. A new one needs ${options}.`;
    throw new PassbookError("invalid_argument", message);
  }
  return {
    ...Object.fromEntries(kept.map(({ field, value }) => [field.name, value])),
    ...given,
    ...(known === undefined ? {} : { version: known["version"] }),
  };
}
