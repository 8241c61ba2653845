/** How many of an account's started jobs each root allowance (with its descendants) and each app has. */
import { rootOfPath } from "../../domain/allowance.ts";
import type { JobCreator } from "./schema.ts";

export type StartedCount = JobCreator & { readonly jobs: number };

export class StartedCounts {
  readonly #of_root = new Map<string, number>();
  readonly #of_app = new Map<string | null, number>();

  constructor(counts: readonly StartedCount[]) {
    for (const count of counts) this.add(count);
  }

  /** `jobs`: negative if jobs ended. */
  add({ allowance_path, app_slug, jobs }: StartedCount): void {
    if (allowance_path !== null) {
      this.#of_root.set(rootOfPath(allowance_path), this.ofRoot(allowance_path) + jobs);
    }
    this.#of_app.set(app_slug, this.ofApp(app_slug) + jobs);
  }

  /** The jobs of the root of a path and of all its descendants. */
  ofRoot(path: string): number {
    return this.#of_root.get(rootOfPath(path)) ?? 0;
  }

  ofApp(app_slug: string | null): number {
    return this.#of_app.get(app_slug) ?? 0;
  }
}
