import type { D1Migration } from "cloudflare:test";

declare global {
  namespace Cloudflare {
    interface Env {
      /** The migrations of the read model, `DB`. */
      TEST_D1_MIGRATIONS: D1Migration[];
      TEST_DIRECTORY_MIGRATIONS: D1Migration[];
      /** The queue of the projector's second adapter. */
      TEST_PROJECTIONS: Queue;
      /** The number of generated requests: `npm run fuzz` sends 10,000. */
      TEST_GENERATED_REQUESTS: string;
      /** "true" in `npm run check:slow`. */
      TEST_SLOW: string;
      /** The number of jobs in the simulated month. */
      TEST_MONTH_JOBS: string;
      SIGNING_KEYS: string;
      ID_TOKEN_KEYS: string;
      ENCRYPTION_KEYS: string;
    }
  }
}
