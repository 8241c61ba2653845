/** Which provider's word makes an operator, through the public door. */
import { describe, expect, it, vi } from "vitest";
import { openBrowser } from "../../support/browser.ts";
import { send } from "../../support/passbook.ts";
import { connect, openProviderDouble } from "../../support/provider_double.ts";

const OLGA = { sub: "olga", email: "olga@example.com", email_verified: true };

/** Whether Olga, who signs in with zeta, operates a service with these operators and providers. */
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

describe("a person whom a provider says to have an operator's address", () => {
  it("operates where the entry names that provider", async () => {
    expect(await operates("zeta:olga@example.com", ["acme", "zeta"])).toBe(true);
  });

  it("does not operate where the entry names another provider, or none of several", async () => {
    expect(await operates("acme:olga@example.com", ["acme", "zeta"])).toBe(false);
    expect(await operates("olga@example.com", ["acme", "zeta"])).toBe(false);
  });

  it("operates where it is the only provider", async () => {
    expect(await operates("Olga@Example.com", ["zeta"])).toBe(true);
  });

  it("does not operate by an address that the provider did not verify, or that only looks equal", async () => {
    const unverified = { email_verified: false };
    expect(await operates("zeta:olga@example.com", ["zeta"], unverified)).toBe(false);
    const mike = { email: "mi\u212Ae@example.com" };
    expect(await operates("mike@example.com", ["zeta"], mike)).toBe(false);
  });
});

describe("an entry of OPERATORS that names nobody", () => {
  it("is said in the log, with what to write instead, and stops nothing", async () => {
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
