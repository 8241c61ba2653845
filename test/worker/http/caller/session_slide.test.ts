import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { send, signIn } from "../../support/passbook.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A D1 that can be read but not written, as when it is full. */
function readOnlyDatabase(): D1Database {
  return new Proxy(env.DIRECTORY, {
    get(database, name) {
      if (name !== "prepare") {
        const member: unknown = Reflect.get(database, name);
        return typeof member === "function" ? member.bind(database) : member;
      }
      return (query: string) => {
        if (/^\s*(insert|update|delete)/i.test(query)) throw new Error("D1_ERROR: disk is full");
        return database.prepare(query);
      };
    },
  });
}

describe("a session that cannot be extended", () => {
  it("a request succeeds if its session cannot be extended, and the failure is logged", async () => {
    const logged = vi.spyOn(console, "warn").mockReturnValue();
    const ada = await signIn();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * DAY_MS });
    const settings = { DIRECTORY: readOnlyDatabase() };
    const headers = { Cookie: ada.cookies, Accept: "text/html" };
    for (const path of ["/account", "/api/sessionToken", "/api/wallet"]) {
      expect((await send("GET", path, { headers }, settings)).status).toBe(200);
    }
    expect(logged).toHaveBeenCalledWith({ event: "session_extension_failed", name: "Error" });
    const before = await env.DIRECTORY.prepare("select expires_at_ms as at from sessions").first(
      "at",
    );
    expect((await send("GET", "/account", { headers })).status).toBe(200);
    const after = await env.DIRECTORY.prepare("select expires_at_ms as at from sessions").first(
      "at",
    );
    expect(Number(after)).toBeGreaterThan(Number(before));
  });
});
