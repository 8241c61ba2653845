/** The lifetimes that forms offer for what they give access to. */
import type { AppContext } from "../../http/context.ts";

/** In days; the longest is that of the settings. */
const LIFETIMES_DAYS = [7, 30, 90, 180];

export function lifetimes(context: AppContext): readonly number[] {
  const { pat_ttl_days } = context.get("services").config;
  return [...LIFETIMES_DAYS.filter((days) => days < pat_ttl_days), pat_ttl_days];
}

/** The offered lifetime that a form names; null: none of them. */
export function readLifetime(context: AppContext, form: FormData): number | null {
  return lifetimes(context).find((days) => String(days) === form.get("days")) ?? null;
}
