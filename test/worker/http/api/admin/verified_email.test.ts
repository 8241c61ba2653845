/** Operators named by e-mail address and provider, through the public API. */
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { openBrowser } from "../../../support/browser.ts";
import { send } from "../../../support/passbook.ts";
import { connect, openProviderDouble } from "../../../support/provider_double.ts";

const OLGA = { sub: "olga", email: "olga@example.com", email_verified: true };

/** Whether Olga, who signs in with zeta, is an operator of a service with these settings. */
async function operates(
  operators: string,
  providers: readonly ("acme" | "zeta")[],
  person: object = {},
): Promise<boolean> {
  const doubles = { acme: openProviderDouble("acme"), zeta: openProviderDouble("zeta") };
  const connected = connect(...providers.map((id) => doubles[id]));
  const settings = { ...connected, OPERATORS: operators };
  const browser = openBrowser(settings);
  await browser.signIn(doubles.zeta, { ...OLGA, ...person });
  const { body } = await browser.get("/api/me");
  const { status } = await browser.get("/api/admin/apps");
  expect(status).toBe(body.operator ? 200 : 403);
  return body.operator;
}

describe("a person with an operator's e-mail address", () => {
  it("a person with an operator's e-mail address is an operator if the entry names their provider", async () => {
    expect(await operates("zeta:olga@example.com", ["acme", "zeta"])).toBe(true);
  });

  it("a person with an operator's e-mail address is no operator if the entry names another provider, or names none of several", async () => {
    expect(await operates("acme:olga@example.com", ["acme", "zeta"])).toBe(false);
    expect(await operates("olga@example.com", ["acme", "zeta"])).toBe(false);
  });

  it("a person with an operator's e-mail address is an operator through the only provider", async () => {
    expect(await operates("Olga@Example.com", ["zeta"])).toBe(true);
  });

  it("an unverified or look-alike e-mail address makes nobody an operator", async () => {
    const unverified = { email_verified: false };
    expect(await operates("zeta:olga@example.com", ["zeta"], unverified)).toBe(false);
    const mike = { email: "mi\u212Ae@example.com" };
    expect(await operates("mike@example.com", ["zeta"], mike)).toBe(false);
  });
});

/**
 * A directory that simulates a concurrent request: it runs `meanwhile` once, before or after the first batch with a
 * query that begins with `sql`.
 */
function directoryWith(sql: string, when: "before" | "after") {
  let prepared: string[] = [];
  let meanwhile: (() => Promise<unknown>) | null = null;
  const interrupt = async (now: "before" | "after", is_it: boolean) => {
    if (now !== when || !is_it || meanwhile === null) return;
    const act = meanwhile;
    meanwhile = null;
    await act();
  };
  const DIRECTORY = new Proxy(env.DIRECTORY, {
    get(target, name) {
      if (name === "prepare") {
        return (query: string) => {
          prepared.push(query);
          return target.prepare(query);
        };
      }
      if (name !== "batch") return Reflect.get(target, name).bind(target);
      return async (statements: D1PreparedStatement[]) => {
        const is_it = prepared.some((query) => query.startsWith(sql));
        prepared = [];
        await interrupt("before", is_it);
        const results = await target.batch(statements);
        await interrupt("after", is_it);
        return results;
      };
    },
  });
  return { DIRECTORY, once: (act: () => Promise<unknown>) => void (meanwhile = act) };
}

describe("a provider that is being unlinked", () => {
  const MALLORY_AT_ZETA = { sub: "mallory", email: "mallory@example.com", email_verified: true };

  async function malloryAtAcme(directory: ReturnType<typeof directoryWith>, person: object) {
    const [acme, zeta] = [openProviderDouble("acme"), openProviderDouble("zeta")];
    const { DIRECTORY } = directory;
    const OPERATORS = "zeta:olga@example.com";
    const settings = { ...connect(acme, zeta), OPERATORS, DIRECTORY };
    const browser = openBrowser(settings);
    await browser.signIn(acme, { ...OLGA, ...person });
    const link = async () => {
      const started = await browser.post("/account/link", { provider: "zeta" });
      const back = zeta.approve(started.headers.get("Location") ?? "", MALLORY_AT_ZETA);
      return () => browser.get(back.href);
    };
    const unlink = () => browser.post("/account/unlink", { provider: "acme" });
    return { acme, settings, browser, link, unlink };
  }

  it("a verified e-mail address of an unlinked provider does not count for a provider that is linked at the same time", async () => {
    const directory = directoryWith('delete from "identities"', "before");
    const { browser, link, unlink } = await malloryAtAcme(directory, {});
    directory.once(await link());
    const unlinked = await unlink();
    expect(unlinked.headers.get("Location")).toBe("/account/security?notice=unlinked");
    expect((await browser.get("/api/me")).body.email_verified).toBe(false);
    expect((await browser.get("/api/admin/apps")).status).toBe(403);
  });

  it("a sign-in that was under way during unlinking does not restore operator rights", async () => {
    const directory = directoryWith('select "provider"', "after");
    const mallory = { email: "mallory@example.com" };
    const { acme, settings, browser, link, unlink } = await malloryAtAcme(directory, mallory);
    await (
      await link()
    )();
    const late = openBrowser(settings);
    const back = acme.approve(await late.start("acme"), OLGA);
    directory.once(unlink);
    await late.get(back.href);
    expect((await browser.get("/account")).text).not.toContain("Acme is linked");
    expect((await browser.get("/api/me")).body).toMatchObject({ email_verified: false });
    expect((await browser.get("/api/admin/apps")).status).toBe(403);
  });
});

describe("an entry of OPERATORS that matches nobody", () => {
  it("an entry of OPERATORS that matches nobody is logged with a remedy and does not stop the service", async () => {
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    const settings = {
      ...connect(openProviderDouble("acme"), openProviderDouble("zeta")),
      DEV_SIGNIN: "false",
      BASE_URL: "https://passbook.test",
      OPERATORS: "user_1, olga@example.com, acme:olga@example.com, google:olga@example.com",
    };
    expect((await send("GET", "/healthz", {}, settings)).status).toBe(200);
    expect((await send("GET", "/signin", {}, settings)).status).toBe(200);
    expect(warned.mock.calls.map(([line]) => line)).toEqual([
      {
        event: "operator_ignored",
        entry: 2,
        remedy: "Write the provider before the address, such as acme:ada@example.com.",
      },
      {
        event: "operator_ignored",
        entry: 4,
        remedy: "SIGNIN_PROVIDERS has no provider google. It has acme, zeta.",
      },
    ]);
  });
});
