/** Chooses the adapter of the read model's port: the queue if it is bound, else direct. */
import type { ProjectionMessage, Projector } from "./projector.ts";
import { createQueueProjector } from "./queue_projector.ts";
import { createDirectProjector } from "./direct_projector.ts";

/** `PROJECTIONS` is optional (`wrangler.toml`). */
interface ProjectorBindings {
  readonly DB: D1Database;
  readonly PROJECTIONS?: Queue<ProjectionMessage>;
}

export function createProjector({ DB, PROJECTIONS }: ProjectorBindings): Projector {
  const direct = createDirectProjector(DB);
  return PROJECTIONS === undefined ? direct : createQueueProjector(PROJECTIONS, direct);
}

const nothing = (): Promise<void> => Promise.resolve();

/** For an account that the read model does not have: every delivery succeeds and goes nowhere. */
export const noProjector: Projector = {
  lines_at_once: 1_000,
  read: () => Promise.resolve([]),
  apply: () => Promise.resolve(true),
  applyNow: () => Promise.resolve(true),
  replaceAccount: nothing,
  replaceGrants: nothing,
  replaceJobs: () => Promise.resolve(null),
  isArchived: () => Promise.resolve(false),
  noteArchive: nothing,
  bar: nothing,
  forget: () => Promise.resolve(true),
};
