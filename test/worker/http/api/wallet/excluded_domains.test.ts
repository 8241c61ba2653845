import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { isExcluded } from "../../../../../src/domain/starter_rule.ts";
import { APP, rows } from "../../caller/app_server.ts";
import { send, signIn, type SignedIn } from "../../../support/passbook.ts";
import { openDirectory } from "../../../support/directory_outage.ts";
import { SETTINGS, signInOperator } from "../admin/operators.ts";

afterEach(() => vi.restoreAllMocks());

/** Registers `sketch`, which excludes a domain, and returns wallet calls for it. */
async function openSketch(more: object = {}) {
  const operator = await signInOperator();
  const settings = { ...APP, starter_excluded_domains: ["Mailinator.com"], ...more };
  await operator.send("PUT", "/api/admin/apps/sketch", settings);
  const wallet = ({ token }: SignedIn, app = "?app=sketch") =>
    send(
      "GET",
      `/api/wallet${app}`,
      { headers: { Authorization: `Bearer ${token}` } },
      operator.settings,
    );
  return { operator, wallet };
}

describe("domains without starter credits", () => {
  it("a person of an excluded domain gets no starter credits, and others get them once", async () => {
    const { wallet } = await openSketch();
    const [mallory, ada] = [await signIn("mallory@MAILINATOR.com"), await signIn()];
    for (const _ of [1, 2]) {
      expect((await wallet(mallory)).body).toMatchObject({
        account: { credits: 0 },
        apps: [{ slug: "sketch", starter_credits: 0, granted: false }],
        app_grant: { slug: "sketch", starter_credits: 0, granted: false },
      });
    }
    expect((await wallet(ada)).body).toMatchObject({
      account: { credits: 100 },
      app_grant: { starter_credits: 100, granted: true },
    });
    expect((await wallet(ada)).body.app_grant.granted).toBe(false);
    expect((await wallet(ada, "")).body.account.credits).toBe(100);
  });

  it("a person without a verified address gets no starter credits of an app that excludes domains", async () => {
    const { wallet } = await openSketch();
    const eve = await signIn("eve@example.com");
    await env.DIRECTORY.prepare("update users set email_verified = 0").run();
    expect((await wallet(eve)).body.app_grant.granted).toBe(false);
    await env.DIRECTORY.prepare("update users set email_verified = 1").run();
    expect((await wallet(eve)).body.app_grant.granted).toBe(true);
  });

  it("an excluded person uses up nothing of the app's daily budget", async () => {
    const { wallet } = await openSketch({ daily_starter_budget: 100 });
    expect((await wallet(await signIn("m@sub.mailinator.com"))).body.account.credits).toBe(0);
    expect((await wallet(await signIn())).body.account.credits).toBe(100);
    expect((await wallet(await signIn("bob@example.com"))).body.account.credits).toBe(0);
  });

  it("a grant waits while the person's address cannot be read, and the wallet still responds", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    await openSketch();
    const directory = openDirectory();
    const settings = { ...SETTINGS, DIRECTORY: directory.environment().DIRECTORY };
    const wallet = ({ token }: SignedIn) => {
      const headers = { Authorization: `Bearer ${token}` };
      return send("GET", "/api/wallet?app=sketch", { headers }, settings);
    };
    const [ada, bob] = [await signIn(), await signIn("bob@example.com")];
    expect((await wallet(bob)).body.app_grant.granted).toBe(true);
    directory.state = "fails";
    expect((await wallet(ada)).body).toMatchObject({
      account: { credits: 0 },
      app_grant: { granted: false },
    });
    directory.state = "answers";
    expect((await wallet(ada)).body.app_grant.granted).toBe(true);
  });

  it("only the wallet call that may make a grant reads the person's address", async () => {
    const { wallet } = await openSketch();
    const ada = await signIn();
    await wallet(ada);
    const prepare = vi.spyOn(Object.getPrototypeOf(env.DIRECTORY), "prepare");
    await wallet(ada);
    await wallet(ada, "");
    expect(prepare).not.toHaveBeenCalled();
    expect(await rows("select version from apps")).toEqual([{ version: 1 }]);
  });

  it.each([
    ["a@mailinator.com", true, true],
    ["a@x.mailinator.com", true, true],
    ["a@mailinator.com.", true, true],
    ["a@xn--bcher-kva.example", true, true],
    ["a@Bücher.example", true, true],
    ["a@not a host", true, false],
    ["a@notmailinator.com", true, false],
    ["a@mailinator.com.example", true, false],
    ['"a@example.com"@mailinator.com', true, true],
    ["a@example.com", false, true],
    [null, false, true],
  ])("the address %s (verified: %s) is excluded: %s", (email, email_verified, expected) => {
    const domains = ["mailinator.com", "xn--bcher-kva.example"];
    expect(isExcluded({ email, email_verified }, domains)).toBe(expected);
    expect(isExcluded({ email, email_verified }, [])).toBe(false);
  });
});
