/** How many of an account's started jobs each personal token and each app has. */
import type { JobCreator } from "./schema.ts";

export type StartedCount = JobCreator & { readonly jobs: number };

export class StartedCounts {
  readonly #of_token = new Map<string | null, number>();
  readonly #of_app = new Map<string | null, number>();

  constructor(counts: readonly StartedCount[]) {
    for (const count of counts) this.add(count);
  }

  /** `jobs`: negative if jobs ended. */
  add({ personal_token_id, app_slug, jobs }: StartedCount): void {
    this.#of_token.set(personal_token_id, this.ofToken(personal_token_id) + jobs);
    this.#of_app.set(app_slug, this.ofApp(app_slug) + jobs);
  }

  ofToken(personal_token_id: string | null): number {
    return this.#of_token.get(personal_token_id) ?? 0;
  }

  ofApp(app_slug: string | null): number {
    return this.#of_app.get(app_slug) ?? 0;
  }
}
