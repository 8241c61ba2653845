/** The module `cloudflare:workers`, as far as the simulated code imports it. `modules.ts` puts it in its place. */

export class DurableObject {
  readonly ctx: unknown;
  readonly env: unknown;

  constructor(ctx: unknown, env: unknown) {
    this.ctx = ctx;
    this.env = env;
  }
}

/** Work of a request that goes on after its response: here it goes on until its object is ended. */
export function waitUntil(work: Promise<unknown>): void {
  work.catch(() => undefined);
}
