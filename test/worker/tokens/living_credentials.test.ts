import { describe, expect, it } from "vitest";
import { LIVE_CREDENTIAL_MS, LIVE_CREDENTIALS_MAX } from "../../../src/domain/rate_limits.ts";
import { createLivingCredentials } from "../../../src/tokens/living_credentials.ts";

const NOW_MS = 2_000_000_000_000;

describe("tokens that an account accepted recently", () => {
  it("a token counts as accepted for a minute after its last use", () => {
    const living = createLivingCredentials();
    expect(living.has("one", NOW_MS)).toBe(false);
    living.add("one", NOW_MS);
    expect(living.has("one", NOW_MS + LIVE_CREDENTIAL_MS - 1)).toBe(true);
    expect(living.has("one", NOW_MS + LIVE_CREDENTIAL_MS)).toBe(false);
    expect(living.has("two", NOW_MS)).toBe(false);
  });

  it("a refused token does not count as accepted any more, and others still do", () => {
    const living = createLivingCredentials();
    for (const id of ["one", "two"]) living.add(id, NOW_MS);
    living.forget("one");
    expect(living.has("one", NOW_MS)).toBe(false);
    expect(living.has("two", NOW_MS)).toBe(true);
  });

  it("a full memory is emptied before the next token", () => {
    const living = createLivingCredentials();
    for (let id = 0; id < LIVE_CREDENTIALS_MAX; id += 1) living.add(String(id), NOW_MS);
    expect(living.has("0", NOW_MS)).toBe(true);
    living.add("next", NOW_MS);
    expect(living.has("0", NOW_MS)).toBe(false);
    expect(living.has("next", NOW_MS)).toBe(true);
  });
});
