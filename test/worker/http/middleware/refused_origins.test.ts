import { beforeEach, describe, expect, it, vi, type MockInstance } from "vitest";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import { openBrowser } from "../../support/browser.ts";
import { environmentWith, send } from "../../support/passbook.ts";

let warned: MockInstance;
beforeEach(() => {
  warned = vi.spyOn(console, "warn").mockReturnValue();
});

/** The log entries about refused origins. */
const reports = () => warned.mock.calls.map(([line]) => line as Record<string, unknown>);

const signInPath = (redirect_to: string) =>
  `/signin?${new URLSearchParams({ redirect_to }).toString()}`;

describe("a refused origin", () => {
  const REPORT = {
    event: "origin_refused",
    origin: "https://app.example:444",
    setting: "ALLOWED_ORIGINS",
    hint: expect.stringContaining("Add https://app.example:444 to ALLOWED_ORIGINS"),
  };

  it.each([
    ["GET", "/signin", {}],
    ["GET", "/signin/acme", {}],
    ["POST", "/signin/dev", { email: "ada@example.com" }],
    ["POST", "/signout", {}],
  ])(
    "an origin refused by %s %s is logged with the setting that would allow it",
    async (method, path, form) => {
      const settings = connect(openProviderDouble("acme"));
      const browser = openBrowser(settings);
      const redirect_to = "https://app.example:444/secret-path?secret=query#secret";
      const query = new URLSearchParams({ redirect_to }).toString();
      const page =
        method === "GET"
          ? await browser.get(`${path}?${query}`)
          : await browser.post(path, { ...form, redirect_to });
      expect(page.status).toBe(400);
      expect(page.text).toContain("We can’t send you back to that address");
      expect(page.text).toContain('href="/account"');
      expect(reports()).toEqual([{ ...REPORT, use: "redirect_to" }]);
      expect(JSON.stringify(reports())).not.toContain("secret");
    },
  );

  it("an origin refused by CORS is logged", async () => {
    const headers = { Origin: "https://app.example:444" };
    await send("GET", "/api/wallet", { headers }, environmentWith({}));
    expect(reports()).toEqual([{ ...REPORT, use: "cors" }]);
  });

  it("an origin that is refused at the end of a sign-in is logged", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const browser = openBrowser(settings);
    const back = acme.approve(await browser.start("acme"), { sub: "ada" });
    const later = openBrowser({ ...settings, ALLOWED_ORIGINS: "" });
    for (const [name, value] of browser.cookies) later.cookies.set(name, value);
    await later.get(back.href);
    expect(reports()).toContainEqual(expect.objectContaining({ origin: "http://localhost:3000" }));
  });

  it.each([
    ["http://app.example/", "http://app.example", "loopback"],
    ["javascript:alert(1)", null, "not a valid URL"],
    ["//app.example", null, "not a valid URL"],
  ])("the log says that no setting can allow %s", async (address, origin, hint) => {
    await send("GET", signInPath(address), {}, environmentWith({}));
    const report = { setting: null, origin, hint: expect.stringContaining(hint) };
    expect(reports()).toEqual([expect.objectContaining(report)]);
  });

  it("each refused origin is logged once per window, and at most 20 origins per window", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const environment = environmentWith({});
    const ask = (host: string) => send("GET", signInPath(`https://${host}/`), {}, environment);
    for (let time = 0; time < 3; time += 1) await ask("again.example");
    expect(reports()).toHaveLength(1);
    for (let n = 0; n < 30; n += 1) await ask(`${n}.example`);
    expect(reports()).toHaveLength(20);
    vi.advanceTimersByTime(60_000);
    await ask("again.example");
    expect(reports()).toHaveLength(21);
  });

  it("an allowed origin is not logged", async () => {
    const headers = { Origin: "http://localhost:3000" };
    await send("GET", signInPath("http://localhost:3000/"), { headers }, environmentWith({}));
    await send("GET", "/api/wallet", { headers }, environmentWith({}));
    expect(reports()).toEqual([]);
  });
});
