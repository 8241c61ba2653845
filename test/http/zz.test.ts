import { it, expect } from "vitest";
import { createApp } from "../../src/app.ts";
it("x", async () => {
  const app = createApp();
  try {
    await app.request("/healthz");
  } catch {}
  expect((app.router as { name: string }).name).toBe("");
});
