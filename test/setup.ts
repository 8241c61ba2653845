/** Every test starts with empty stores, the current D1 schemas, and the real clock. */
import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, vi } from "vitest";

beforeEach(async () => {
  await reset();
  await applyD1Migrations(env.DIRECTORY, env.TEST_DIRECTORY_MIGRATIONS);
  await applyD1Migrations(env.DB, env.TEST_D1_MIGRATIONS);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
