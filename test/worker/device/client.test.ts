import { describe, expect, it, vi } from "vitest";
import { BASE_URL, environmentWith, signIn } from "../support/passbook.ts";
import { env } from "cloudflare:workers";
import { createExecutionContext } from "cloudflare:test";
import worker from "../../../src/worker.ts";
import { awaitToken, startDevice, type DeviceOptions } from "../support/device_client.ts";
import { approve, holderOf, postForm } from "../support/device_logins.ts";

/** A device whose waiting moves the clock and calls `meanwhile` after this many waits. */
function device(
  meanwhile: (waits: number) => Promise<unknown>,
  environment: Env = env,
): DeviceOptions & { waits: number[] } {
  const waits: number[] = [];
  return {
    base_url: BASE_URL,
    client_name: "Test device",
    waits,
    fetch: async (url, init) =>
      worker.fetch(new Request(url, init), environment, createExecutionContext()),
    async wait(seconds) {
      waits.push(seconds);
      vi.setSystemTime(Date.now() + seconds * 1000);
      await meanwhile(waits.length);
    },
  };
}

describe("a client that follows RFC 8628", () => {
  it("a client that follows RFC 8628 waits its interval and gets the token at the poll after approval", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const ada = await signIn();
    const options = device(async (waits) => (waits === 3 ? approve(ada, login.user_code) : null));
    const login = await startDevice(options);
    const outcome = await awaitToken(options, login);
    expect(options.waits).toEqual([5, 5, 5]);
    expect(outcome.kind).toBe("token");
    const token = outcome.kind === "token" ? outcome.token : "";
    expect((await holderOf(token).get("/api/wallet")).status).toBe(200);
  });

  it("a client that follows RFC 8628 learns that the login was denied", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const ada = await signIn();
    const options = device(() => postForm(ada, "/device/deny", { user_code: login.user_code }));
    const login = await startDevice(options);
    expect(await awaitToken(options, login)).toEqual({ kind: "denied" });
  });

  it("a client that follows RFC 8628 learns that the code has expired", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    // The limiter counts in real time, which does not pass here, so the lifetime allows few polls only.
    const settings = environmentWith({ DEVICE_CODE_TTL_SECONDS: "200" });
    const options = device(async () => null, settings);
    const login = await startDevice(options);
    expect(await awaitToken(options, login)).toEqual({ kind: "expired" });
  });
});
