/** The figures that show whether the service is healthy, each with its limit. */
import { timestamp } from "../domain/wire.ts";
import type { OperatorServices } from "./acting.ts";

const timeOrNull = (at_ms: number | null): string | null =>
  at_ms === null ? null : timestamp(at_ms);

/** Always readable: a part that cannot be read is null, with the reason in its figures. */
export async function readHealth(services: OperatorServices) {
  const { status, read_at_ms, figures, tasks, budgets } = await services.readHealth();
  return {
    status,
    figures: figures.map(({ newest_at_ms, ...figure }) => ({
      ...figure,
      newest_at: timeOrNull(newest_at_ms),
    })),
    tasks:
      tasks?.map(({ task, ended_at_ms, failing_since_ms, reason }) => ({
        task,
        ended_at: timestamp(ended_at_ms),
        failing_since: timeOrNull(failing_since_ms),
        reason,
      })) ?? null,
    budgets:
      budgets?.map(({ app_slug, used, limit, is_used_up }) => ({
        app: app_slug,
        used,
        limit,
        used_up: is_used_up,
      })) ?? null,
    as_of: timestamp(read_at_ms),
  };
}
