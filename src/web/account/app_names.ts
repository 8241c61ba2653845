/** Apps by the names that operators gave them. */
import { nameFromSlug } from "../layout/account_words.ts";
import type { AppContext } from "../../http/context.ts";

/**
 * Gives an app's name by its slug. A registry that cannot be read costs names, not the page: a slug
 * then reads as well as it can.
 */
export async function appNames(context: AppContext): Promise<(slug: string | null) => string> {
  const registered = await context
    .get("services")
    .apps.all()
    .catch(() => new Map<string, { readonly name: string }>());
  return (slug) => (slug === null ? "No app" : (registered.get(slug)?.name ?? nameFromSlug(slug)));
}
