/** The names of apps. */
import { appLooks } from "../layout/app_icon.tsx";
import type { AppContext } from "../../http/context.ts";

/** Returns a function from a slug to the app's name: see `appLooks`. */
export async function appNames(context: AppContext): Promise<(slug: string | null) => string> {
  const lookOf = await appLooks(context);
  return (slug) => lookOf(slug).name;
}
