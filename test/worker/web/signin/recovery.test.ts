/** Recovery codes: signing in after the loss of all passkeys. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { earlyInAMinute } from "../../support/clock.ts";
import {
  BACK,
  expectNobody,
  openBrowser,
  SIGN_IN_FIRST,
  subjectOf,
  tokenOf,
  type Browser,
} from "../../support/browser.ts";
import {
  addPasskey,
  approveOn,
  ONLY_PASSKEYS,
  register,
  removableMethods,
  signInWith,
  suspend,
} from "../../support/passkeys.ts";

const open = () => openBrowser(ONLY_PASSKEYS);

const use = (browser: Browser, code: string) => browser.post("/signin/passkey/recovery", { code });

const codeIn = (text: string): string => /<textarea[^>]*>([^<]+)</.exec(text)?.[1] ?? "";

const isSignedIn = async (browser: Browser) => (await browser.get("/account")).status === 200;

describe("a recovery code", () => {
  it("a recovery code signs in once and is replaced by a new one", async () => {
    const { recovery_code } = await register(open());
    const browser = open();
    const first = await use(browser, recovery_code);
    expect(first.status).toBe(200);
    expect(await isSignedIn(browser)).toBe(true);
    const again = open();
    const refused = await use(again, recovery_code);
    expect(refused.text).toContain("This code is not valid");
    await expectNobody(again, refused.status);
    const next = codeIn(first.text);
    expect(next).not.toBe(recovery_code);
    expect((await use(open(), next)).status).toBe(200);
  });

  it("two uses of a code at once start one session", async () => {
    const { recovery_code } = await register(open());
    const answers = await Promise.all([use(open(), recovery_code), use(open(), recovery_code)]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 403]));
  });

  it("a code is read in lower case, without dashes, and with letters that look like digits", async () => {
    const { recovery_code } = await register(open());
    const typed = ` ${recovery_code.replaceAll("-", " ").toLowerCase()} `
      .replaceAll("0", "o")
      .replaceAll("1", "l");
    expect((await use(open(), typed)).status).toBe(200);
  });

  it.each(["", "x", "0".repeat(25), "0".repeat(26), "U".repeat(25)])(
    "the code %j, which nobody has, is refused",
    async (code) => {
      await register(open());
      const browser = open();
      await expectNobody(browser, (await use(browser, code)).status);
    },
  );

  it("a person who recovers for an app continues to it", async () => {
    const { recovery_code } = await register(open());
    const browser = open();
    const query = new URLSearchParams({ redirect_to: BACK }).toString();
    const path = `/signin/passkey/recovery?${query}`;
    expect((await browser.get(path)).text).toContain("Recovery code");
    const page = await browser.post(path, { code: recovery_code });
    expect(page.text).toContain('action="/signin/continue"');
    const landed = await browser.post("/signin/continue", { redirect_to: BACK });
    expect(subjectOf(tokenOf(landed))).toMatch(/^user_/);
  });

  it("one network may try ten codes a minute", async () => {
    await earlyInAMinute();
    const browser = open();
    const statuses: number[] = [];
    for (let tries = 0; tries < 11; tries += 1) statuses.push((await use(browser, "x")).status);
    expect(statuses.slice(0, 10).every((status) => status === 403)).toBe(true);
    expect(statuses.at(-1)).toBe(429);
  });

  it("a suspended person gets no session with a code and keeps the code", async () => {
    const { recovery_code } = await register(open());
    const hash = () =>
      env.DIRECTORY.prepare("select recovery_code_hash from users where name = 'Ada'").first();
    const before = await hash();
    const id = await env.DIRECTORY.prepare("select id from users").first("id");
    await suspend(String(id));
    const browser = open();
    const answer = await use(browser, recovery_code);
    expect(answer.text).toContain("suspended");
    await expectNobody(browser, answer.status);
    expect(await hash()).toEqual(before);
  });

  it("a code of a deleted account is nobody's", async () => {
    const browser = open();
    const { recovery_code } = await register(browser);
    await browser.post("/account/delete", { confirmation: "delete" });
    const thief = open();
    await expectNobody(thief, (await use(thief, recovery_code)).status);
  });
});

describe("a new recovery code", () => {
  it("a new code replaces the former one", async () => {
    const browser = open();
    const { recovery_code } = await register(browser);
    const made = await browser.post("/account/recovery-code");
    expect((await use(open(), recovery_code)).status).toBe(403);
    expect((await use(open(), codeIn(made.text))).status).toBe(200);
  });

  it("a new code ends the sessions and tokens of the former one, and nothing else", async () => {
    const browser = open();
    const { recovery_code, credential } = await register(browser);
    const thief = open();
    await use(thief, recovery_code);
    const stolen = await approveOn(thief);
    const other = open();
    await signInWith(other, credential);
    const kept = await approveOn(other);
    expect((await stolen.get("/api/wallet")).status).toBe(200);
    await browser.post("/account/recovery-code");
    expect((await thief.get("/account")).headers.get("Location")).toMatch(SIGN_IN_FIRST);
    expect((await stolen.get("/api/wallet")).status).toBe(401);
    expect(await isSignedIn(browser)).toBe(true);
    expect(await isSignedIn(other)).toBe(true);
    expect((await kept.get("/api/wallet")).status).toBe(200);
  });

  it("a person who lost all passkeys adds a new one and removes the lost one", async () => {
    const { recovery_code, credential: lost } = await register(open());
    const browser = open();
    await use(browser, recovery_code);
    const { credential } = await addPasskey(browser, "New key");
    const [lost_id = ""] = [...(await removableMethods(browser))].flatMap(([name, id]) =>
      name === "New key" ? [] : [id],
    );
    await browser.post("/account/unlink", { provider: lost_id });
    expect(await isSignedIn(browser)).toBe(true);
    expect((await signInWith(open(), lost)).answer.status).toBe(403);
    expect((await signInWith(open(), credential)).answer.status).toBe(303);
  });

  it("another site cannot make a new code", async () => {
    const browser = open();
    const { recovery_code } = await register(browser);
    const answer = await browser.post(
      "/account/recovery-code",
      {},
      { Origin: "https://evil.test" },
    );
    expect(answer.status).toBe(403);
    expect((await use(open(), recovery_code)).status).toBe(200);
  });
});
