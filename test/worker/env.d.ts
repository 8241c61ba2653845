import type { D1Migration } from "cloudflare:test";

declare global {
  namespace Cloudflare {
    interface Env {
      /** Of the read model, `DB`. */
      TEST_D1_MIGRATIONS: D1Migration[];
      TEST_DIRECTORY_MIGRATIONS: D1Migration[];
      /** The queue of the projector's second adapter. */
      TEST_PROJECTIONS: Queue;
      /** "true": `npm run check:slow`. */
      TEST_SLOW: string;
      /** Jobs of the simulated month. */
      TEST_MONTH_JOBS: string;
      SIGNING_KEYS: string;
      ENCRYPTION_KEYS: string;
    }
  }
}
