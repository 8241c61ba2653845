import type { D1Migration } from "cloudflare:test";

declare global {
  namespace Cloudflare {
    interface Env {
      /** Of the read model, `DB`. */
      TEST_D1_MIGRATIONS: D1Migration[];
      TEST_DIRECTORY_MIGRATIONS: D1Migration[];
      SIGNING_KEYS: string;
      ENCRYPTION_KEYS: string;
    }
  }
}
