/** Apps that nobody registered: production gives them no starter credits, and the setting STRICT_APPS refuses them. */
import type { Refusal } from "../../domain/refusals.ts";
import type { AppContext } from "../context.ts";

/** The slugs that this process has named in the log. Only in development, where a developer chooses them. */
const named = new Set<string>();

/** The refusal of an app that is not registered; null: it may be used. In development the log names each one once. */
export function refusalOfApp(
  context: AppContext,
  app_slug: string,
  is_registered: boolean,
): Refusal | null {
  if (is_registered) return null;
  const { dev_signin, strict_apps } = context.get("services").config;
  if (strict_apps) return { code: "app_not_registered", app_slug };
  if (dev_signin && !named.has(app_slug)) {
    named.add(app_slug);
    const hint =
      "It works here without being registered. Check that the slug is spelt as you mean it.";
    console.warn({ event: "app_not_registered", app_slug, hint });
  }
  return null;
}
