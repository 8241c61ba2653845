/** The copy of people in the archive: a lost directory gives everybody their old account back at the next sign-in. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { upkeepOf } from "../../../src/services.ts";
import { signInOperator } from "../http/api/admin/operators.ts";
import { openBrowser, subjectOf, tokenOf } from "../support/browser.ts";
import { holderOf } from "../support/device_logins.ts";
import { openIssuer, trust } from "../support/issuer_double.ts";
import { keysIn, loseDirectory } from "../support/lost_directory.ts";
import { environmentWith, send, signIn, signInWithCredits } from "../support/passbook.ts";
import { ONLY_PASSKEYS, register, signInWith } from "../support/passkeys.ts";
import { connect, openProviderDouble, type ProviderDouble } from "../support/provider_double.ts";

let ACME: ProviderDouble;
let ZETA: ProviderDouble;
let SETTINGS: Record<string, string>;

beforeEach(() => {
  ACME = openProviderDouble("acme");
  ZETA = openProviderDouble("zeta");
  SETTINGS = connect(ACME, ZETA);
});

const creditsOf = async (token: string) =>
  (await holderOf(token, SETTINGS).get("/api/wallet?app=demo")).body.account.credits;

async function signInAt(provider: ProviderDouble, sub: string) {
  const browser = openBrowser(SETTINGS);
  const landed = await browser.signIn(provider, { sub, email: `${sub}@example.com` });
  const token = tokenOf(landed) ?? "";
  return { browser, token, identity_id: subjectOf(token) };
}

async function link(
  browser: ReturnType<typeof openBrowser>,
  provider: ProviderDouble,
  sub: string,
) {
  const started = await browser.post("/account/link", { provider: provider.settings.id });
  const back = provider.approve(started.headers.get("Location") ?? "", { sub });
  await browser.get(back.href);
}

/** Keeps the copies of people as they are. @returns puts them back, as if later copies had not been written */
async function keepCopies() {
  const copies = await Promise.all(
    (await keysIn("people/v1/")).map(async (key) => {
      const file = await env.ARCHIVE.get(key);
      return { key, bytes: await file?.arrayBuffer() };
    }),
  );
  return async () => {
    for (const { key, bytes } of copies) await env.ARCHIVE.put(key, bytes ?? "");
  };
}

const waiting = () => env.DIRECTORY.prepare("select count(*) as n from unkept").first("n");
const runSchedule = () => upkeepOf(environmentWith(SETTINGS))();

describe("people after the loss of DIRECTORY", () => {
  it("a person gets their old identity and balance back at the next sign-in, and no second starter credits", async () => {
    const ada = await signInWithCredits();
    await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 30 });
    await loseDirectory();
    const back = await signIn();
    expect(back.identity_id).toBe(ada.identity_id);
    expect((await back.get("/api/wallet?app=demo")).body.account.credits).toBe(70);
    const me = (await back.get("/api/me")).body;
    expect(me).toMatchObject({ email: "ada@example.com" });
    expect(await waiting()).toBe(0);
  });

  it("each linked method finds the person, and one that they unlinked does not", async () => {
    const { browser, identity_id } = await signInAt(ACME, "ada");
    await link(browser, ZETA, "ada-at-zeta");
    await loseDirectory();
    expect((await signInAt(ZETA, "ada-at-zeta")).identity_id).toBe(identity_id);
    const again = await signInAt(ACME, "ada");
    expect(again.identity_id).toBe(identity_id);
    await again.browser.post("/account/unlink", { provider: "zeta" });
    await loseDirectory();
    const stranger = await signInAt(ZETA, "ada-at-zeta");
    expect(stranger.identity_id).not.toBe(identity_id);
    // Who left a method with a person gets no starter credits again.
    expect(await creditsOf(stranger.token)).toBe(0);
    expect((await signInAt(ACME, "ada")).identity_id).toBe(identity_id);
  });

  it("a deleted person does not come back, and gets no starter credits again", async () => {
    const { browser, token, identity_id } = await signInAt(ACME, "ada");
    expect(await creditsOf(token)).toBe(100);
    expect(await keysIn("people/v1/users/")).toEqual([`people/v1/users/${identity_id}`]);
    await browser.post("/account/delete", { confirmation: "delete" });
    await runSchedule();
    expect(await keysIn("people/v1/users/")).toEqual([]);
    expect(await keysIn("people/v1/names/")).toEqual([]);
    expect(await keysIn("people/v1/tombstones/")).toHaveLength(1);
    await loseDirectory();
    const back = await signInAt(ACME, "ada");
    expect(back.identity_id).not.toBe(identity_id);
    expect(await creditsOf(back.token)).toBe(0);
  });

  it("a copy that survived the deletion of its person brings nobody back, by any of their methods", async () => {
    const { browser, identity_id } = await signInAt(ACME, "ada");
    await link(browser, ZETA, "ada-at-zeta");
    const putBack = await keepCopies();
    await browser.post("/account/delete", { confirmation: "delete" });
    await runSchedule();
    await putBack();
    await loseDirectory();
    expect((await signInAt(ACME, "ada")).identity_id).not.toBe(identity_id);
    expect(await env.DIRECTORY.prepare("select count(*) as n from users").first("n")).toBe(1);
    expect((await signInAt(ZETA, "ada-at-zeta")).identity_id).not.toBe(identity_id);
  });

  it("a method that the person unlinked stays unlinked although an older copy of the person has it", async () => {
    const { browser, identity_id } = await signInAt(ACME, "ada");
    await link(browser, ZETA, "ada-at-zeta");
    const putBack = await keepCopies();
    await browser.post("/account/unlink", { provider: "zeta" });
    await runSchedule();
    await putBack();
    await loseDirectory();
    expect((await signInAt(ACME, "ada")).identity_id).toBe(identity_id);
    expect((await signInAt(ZETA, "ada-at-zeta")).identity_id).not.toBe(identity_id);
  });

  it("an address comes back unverified if the method that verified it does not come back", async () => {
    const BETA = openProviderDouble("beta");
    SETTINGS = connect(ACME, ZETA, BETA);
    const browser = openBrowser(SETTINGS);
    const claims = { sub: "ada", email: "ada@example.com", email_verified: true };
    const identity_id = subjectOf(tokenOf(await browser.signIn(ACME, claims)) ?? "");
    await link(browser, ZETA, "ada-at-zeta");
    // Times of methods are in milliseconds.
    await scheduler.wait(2);
    await link(browser, BETA, "ada-at-beta");
    const verified = () =>
      env.DIRECTORY.prepare("select email_verified from users where id = ?1")
        .bind(identity_id)
        .first("email_verified");
    expect(await verified()).toBe(1);
    const putBack = await keepCopies();
    await browser.post("/account/unlink", { provider: "acme" });
    await runSchedule();
    await putBack();
    await loseDirectory();
    // Not the oldest method, so it says nothing about the address.
    expect((await signInAt(BETA, "ada-at-beta")).identity_id).toBe(identity_id);
    expect(await verified()).toBe(0);
  });

  it("a person with a passkey signs in with it again", async () => {
    const browser = openBrowser(ONLY_PASSKEYS);
    const { credential } = await register(browser);
    const session = await browser.get("/api/sessionToken");
    const identity_id = subjectOf(session.body.token);
    await loseDirectory();
    const { answer } = await signInWith(openBrowser(ONLY_PASSKEYS), credential);
    expect(subjectOf(tokenOf(answer) ?? "")).toBe(identity_id);
  });

  it("a person of a trusted issuer is the same one with their next token, in an isolate that knew them and in a new one", async () => {
    const issuer = await openIssuer("https://issuer.test");
    const known = trust([{ double: issuer }]);
    const token = await issuer.token();
    const walletWith = async (settings: object) => {
      const headers = { Authorization: `Bearer ${token}` };
      const wallet = await send("GET", "/api/wallet?app=demo", { headers }, settings);
      return wallet.body.account;
    };
    const { identity_id } = await walletWith(known);
    await runSchedule();
    for (const settings of [known, trust([{ double: issuer }])]) {
      await loseDirectory();
      expect(await walletWith(settings)).toMatchObject({ identity_id, credits: 100 });
    }
  });

  it("nobody can read a person in the archive, or move a copy to another person", async () => {
    const ada = await signIn("ada@example.com");
    const bob = await signIn("bob@example.com");
    for (const key of await keysIn("people/v1/")) {
      const text = (await (await env.ARCHIVE.get(key))?.text()) ?? "";
      expect(key + text).not.toMatch(/ada@|bob@/);
    }
    const file = await env.ARCHIVE.get(`people/v1/users/${bob.identity_id}`);
    await env.ARCHIVE.put(`people/v1/users/${ada.identity_id}`, (await file?.arrayBuffer()) ?? "");
    await loseDirectory();
    vi.spyOn(console, "error").mockReturnValue();
    const form = new URLSearchParams({
      email: "ada@example.com",
      redirect_to: "http://localhost:3000/",
    });
    expect((await send("POST", "/signin/dev", { body: form })).status).toBe(500);
    expect((await signIn("bob@example.com")).identity_id).toBe(bob.identity_id);
  });

  it("changes wait while the archive does not respond, and the schedule copies them", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const bucket = Object.getPrototypeOf(env.ARCHIVE);
    const down = vi.spyOn(bucket, "put").mockRejectedValue(new Error("R2 is down"));
    // The directory is known to be whole, so a sign-in needs no archive.
    expect((await send("GET", "/readyz", {}, SETTINGS)).status).toBe(200);
    const { identity_id } = await signInAt(ACME, "ada");
    expect(await waiting()).toBe(1);
    const olga = await signInOperator();
    const figure = async () => {
      const { figures } = (await olga.get("/api/admin/health")).body;
      return figures.find(({ name }: { readonly name: string }) => name === "people_waiting");
    };
    expect(await figure()).toMatchObject({ status: "ok" });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 60 * 60 * 1000 });
    expect(await figure()).toMatchObject({ status: "warning", unit: "seconds" });
    down.mockRestore();
    await runSchedule();
    expect(await waiting()).toBe(0);
    expect(await figure()).toMatchObject({ status: "ok", value: 0 });
    expect(await keysIn("people/v1/users/")).toContain(`people/v1/users/${identity_id}`);
  });

  it("a slow writer never puts an older state in place of a newer one", async () => {
    const { browser, identity_id } = await signInAt(ACME, "ada");
    type Put = (this: R2Bucket, ...given: unknown[]) => Promise<unknown>;
    const bucket = Object.getPrototypeOf(env.ARCHIVE) as { readonly put: Put };
    const { put } = bucket;
    let let_go = (): void => {};
    const held = new Promise<void>((resolve) => (let_go = resolve));
    let is_first = true;
    vi.spyOn(bucket, "put").mockImplementation(async function (this: R2Bucket, ...given) {
      const [key] = given as [string];
      if (key.startsWith("people/v1/users/") && is_first) {
        is_first = false;
        await held;
      }
      return put.apply(this, given);
    });
    await env.DIRECTORY.prepare("update users set name = 'Old'").run();
    const slow = runSchedule();
    await vi.waitFor(() => expect(is_first).toBe(false));
    await link(browser, ZETA, "new-at-zeta");
    let_go();
    await slow;
    expect(await waiting()).toBe(0);
    await loseDirectory();
    expect((await signInAt(ZETA, "new-at-zeta")).identity_id).toBe(identity_id);
  });

  it("a rebuilt or new directory reads nothing of the archive for a new person", async () => {
    const settings = { ...SETTINGS };
    expect((await send("GET", "/readyz", {}, settings)).status).toBe(200);
    const read = vi.spyOn(Object.getPrototypeOf(env.ARCHIVE), "list");
    await signIn("cleo@example.com", settings);
    expect(read).not.toHaveBeenCalled();
  });
});
