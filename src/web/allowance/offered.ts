/** The options that the forms for new tokens offer to a person. */
import { readOperatorRights } from "../../http/caller/operator.ts";
import type { AppContext } from "../../http/context.ts";
import type { Offered } from "./choices.tsx";

export async function readOffered(context: AppContext): Promise<Offered> {
  const { apps, identity } = context.get("services");
  const [registered, operator] = await Promise.all([
    apps.all(),
    readOperatorRights(context, context.get("caller").identity_id),
  ]);
  return {
    registered_apps: [...registered.values()].map(({ slug, name }) => ({ slug, name })),
    upstream_names: identity.sign_in_methods.map(({ name }) => name),
    may_operate: operator !== null,
  };
}

/** The lifetimes that these forms offer, in days; the longest is that of the settings. */
const LIFETIMES_DAYS = [7, 30, 90, 180];

export function lifetimes(context: AppContext): readonly number[] {
  const { pat_ttl_days } = context.get("services").config;
  return [...LIFETIMES_DAYS.filter((days) => days < pat_ttl_days), pat_ttl_days];
}

/** The offered lifetime that a form names; null: none of them. */
export function readLifetime(context: AppContext, form: FormData): number | null {
  return lifetimes(context).find((days) => String(days) === form.get("days")) ?? null;
}
