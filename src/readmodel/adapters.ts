/** Which adapter of the projector's port a deployment has: the queue where it is bound. */
import type { ProjectionMessage, Projector } from "./projector.ts";
import { createQueueProjector } from "./queue_projector.ts";
import { createDirectProjector } from "./direct_projector.ts";

/** `PROJECTIONS` is bound by those who need it (`wrangler.toml`). */
export interface ProjectorBindings {
  readonly DB: D1Database;
  readonly PROJECTIONS?: Queue<ProjectionMessage>;
}

/** The projector of an account's object. */
export function createProjector({ DB, PROJECTIONS }: ProjectorBindings): Projector {
  const direct = createDirectProjector(DB);
  return PROJECTIONS === undefined ? direct : createQueueProjector(PROJECTIONS, direct);
}
