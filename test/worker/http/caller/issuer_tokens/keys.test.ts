/** The keys of a trusted issuer: when they are read, and what happens while they cannot be. */
import { describe, expect, it, vi } from "vitest";
import { openIssuer, trust, type IssuerDouble } from "../../../support/issuer_double.ts";
import { passTime } from "../../../support/clock.ts";
import { send, type Answer } from "../../../support/passbook.ts";

const wallet = (settings: object, token: string): Promise<Answer> =>
  send("GET", "/api/wallet", { headers: { Authorization: `Bearer ${token}` } }, settings);

async function open(): Promise<{ acme: IssuerDouble; settings: object }> {
  const acme = await openIssuer("https://acme.test");
  return { acme, settings: trust([{ double: acme }]) };
}

const MINUTE_MS = 60_000;

const muteWarnings = () => vi.spyOn(console, "warn").mockImplementation(() => undefined);

describe("the keys of a trusted issuer", () => {
  it("are read once for many first requests at once", async () => {
    const { acme, settings } = await open();
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, index) => acme.token({ sub: `person-${index}` })),
    );
    const answers = await Promise.all(tokens.map((token) => wallet(settings, token)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(acme.reads()).toBe(1);
  });

  it("a flood of unknown key ids reads the keys at most once a minute", async () => {
    const { acme, settings } = await open();
    await wallet(settings, await acme.token());
    const flood = async (): Promise<void> => {
      const forged = await Promise.all(
        Array.from({ length: 50 }, (_, index) => acme.token({}, { kid: `unknown-${index}` })),
      );
      const answers = await Promise.all(forged.map((token) => wallet(settings, token)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    };
    await flood();
    expect(acme.reads()).toBe(1);
    passTime(MINUTE_MS);
    await flood();
    await flood();
    expect(acme.reads()).toBe(2);
    expect((await wallet(settings, await acme.token({ sid: "s2" }))).status).toBe(200);
  });

  it("a token with a rotated key is accepted as soon as the keys may be read again", async () => {
    const { acme, settings } = await open();
    await wallet(settings, await acme.token());
    const old = await acme.token({ sid: "old" });
    await acme.rotate();
    passTime(2 * MINUTE_MS);
    expect((await wallet(settings, await acme.token({ sid: "new" }))).status).toBe(200);
    expect(acme.reads()).toBe(2);
    // The old key was withdrawn.
    expect((await wallet(settings, old)).status).toBe(401);
  });

  it("keys older than ten minutes are read again in the background, without delaying a request", async () => {
    const { acme, settings } = await open();
    await wallet(settings, await acme.token());
    const old = await acme.token({ sid: "old", exp: Math.floor(Date.now() / 1000) + 3600 });
    await acme.rotate();
    passTime(11 * MINUTE_MS);
    const { promise, resolve } = Promise.withResolvers<Response>();
    acme.respond(() => promise);
    expect((await wallet(settings, old)).status).toBe(200);
    expect(acme.reads()).toBe(2);
    acme.respond(null);
    resolve(await acme.handle());
    // The withdrawn key is refused from then on, and so is the token that it signed.
    const fresh = await acme.token({ exp: Math.floor(Date.now() / 1000) + 7200 });
    await vi.waitFor(async () => expect((await wallet(settings, fresh)).status).toBe(200));
    expect((await wallet(settings, old)).status).toBe(200);
    passTime(15 * MINUTE_MS);
    expect((await wallet(settings, old)).status).toBe(401);
  });

  it("while the issuer is down, known keys still work and unknown ones are 503", async () => {
    const { acme, settings } = await open();
    const warnings = muteWarnings();
    await wallet(settings, await acme.token());
    acme.respond(() => new Response("down", { status: 500 }));
    passTime(15 * MINUTE_MS);
    const known = await acme.token({ sid: "s2" });
    expect((await wallet(settings, known)).status).toBe(200);
    const unknown = await wallet(settings, await acme.token({}, { kid: "unknown" }));
    expect(unknown.status).toBe(503);
    expect(unknown.headers.get("Retry-After")).not.toBeNull();
    expect(warnings).toHaveBeenCalledWith({
      event: "issuer_keys_unavailable",
      issuer: "https://acme.test",
      reason: "server_error, status 500",
    });
    expect((await wallet(settings, await acme.token({ sid: "s3" }))).status).toBe(200);
  });

  const BROKEN: readonly [string, () => Response | Promise<Response>][] = [
    ["an error page", () => new Response("no", { status: 404 })],
    ["a redirect", () => Response.redirect("https://evil.test/jwks.json")],
    ["no JSON", () => new Response("<html>")],
    ["no key set", () => Response.json({ keys: "none" })],
    ["a response of a megabyte", () => new Response(" ".repeat(1_000_000))],
    ["a broken connection", () => Promise.reject(new TypeError("connection lost"))],
  ];
  it.each(BROKEN)(
    "%s in place of the keys is 503, and they are read again after 5 seconds",
    async (_, answer) => {
      const { acme, settings } = await open();
      muteWarnings();
      acme.respond(answer);
      for (let index = 0; index < 5; index += 1) {
        const refused = await wallet(settings, await acme.token({ sid: `s${index}` }));
        expect(refused.status).toBe(503);
        expect(refused.body.code).toBe("unavailable");
      }
      expect(acme.reads()).toBe(1);
      acme.respond(null);
      passTime(6_000);
      expect((await wallet(settings, await acme.token())).status).toBe(200);
      expect(acme.reads()).toBe(2);
    },
  );

  it("a symmetric key in the set is never used", async () => {
    const { acme, settings } = await open();
    const secret = new Uint8Array(32).fill(7);
    const k = btoa(String.fromCharCode(...secret)).replaceAll("=", "");
    acme.respond(() => Response.json({ keys: [{ kty: "oct", kid: "oct", alg: "HS256", k }] }));
    const forged = await acme.token({}, { alg: "HS256", kid: "oct" }, secret);
    expect((await wallet(settings, forged)).status).toBe(401);
  });
});
