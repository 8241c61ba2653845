/** Passkeys in a real browser with a virtual authenticator, on a service that people use only with passkeys. */
import type { CDPSession, Page } from "playwright-core";
import { describe, expect, it, vi } from "vitest";
import { expectForEverybody, SCREENS, usePages } from "../support/pages_in_browser.ts";

/** Each browser has its own network, because new accounts of one network are limited. */
let networks = 0;

const pages = usePages("passkeys", { SIGNIN_METHODS: "passkey" });

/** A credential with its private key, as the debugger shows it. */
interface Credential {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly privateKey: string;
  readonly signCount: number;
}

/** A virtual authenticator of one page's browser. */
interface Authenticator {
  /** Whether the person passes the check of their fingerprint or PIN. */
  verify(verified: boolean): Promise<void>;
  /** Takes all credentials, with their private keys, to another page's authenticator. */
  copyTo(other: Authenticator): Promise<void>;
  add(credential: Credential): Promise<void>;
  clear(): Promise<void>;
}

async function plugIn(page: Page): Promise<Authenticator> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    async verify(isUserVerified) {
      await session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    },
    async copyTo(other) {
      const { credentials } = await session.send("WebAuthn.getCredentials", { authenticatorId });
      for (const credential of credentials) await other.add(credential);
    },
    async add(credential) {
      await session.send("WebAuthn.addCredential", { authenticatorId, credential });
    },
    async clear() {
      await session.send("WebAuthn.clearCredentials", { authenticatorId });
    },
  };
}

/** Opens a page in a new browser with an authenticator, and fails if the CSP refuses anything. */
async function open(options?: Parameters<typeof pages.openPage>[0]) {
  networks += 1;
  const network = `2001:db8:${networks.toString(16)}::1`;
  const page = await pages.openPage(options);
  await page.setExtraHTTPHeaders({ "CF-Connecting-IP": network });
  page.setDefaultTimeout(10_000);
  page.on("console", (message) => {
    expect(message.text()).not.toContain("Content Security Policy");
  });
  return { page, authenticator: await plugIn(page) };
}

/** Creates an account: the browser stays on the page with the recovery code. */
async function register(options?: Parameters<typeof pages.openPage>[0]) {
  const opened = await open(options);
  const { page } = opened;
  await page.goto(`${pages.url}/signin`);
  await page.getByRole("link", { name: "Create an account with a passkey" }).click();
  await page.getByLabel("Your name").fill("Ada Lovelace");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("heading", { name: "Save your recovery code" }).waitFor();
  const recovery_code = await page.getByLabel("Your recovery code").inputValue();
  return { ...opened, recovery_code };
}

async function registerAndOpenAccount() {
  const opened = await register();
  await opened.page.getByRole("link", { name: "I saved the code" }).click();
  await opened.page.waitForURL(`${pages.url}/account`);
  return opened;
}

const signIn = async (page: Page): Promise<void> => {
  await page.goto(`${pages.url}/signin`);
  await page.getByRole("button", { name: "Continue with a passkey" }).click();
};

/** Replaces a text of the page's script, as a page of an attacker would have it. */
async function alterScript(page: Page, text: string, replacement: string): Promise<void> {
  const address = `${pages.url}/static/passkey.js`;
  const script = await (await fetch(address)).text();
  expect(script).toContain(text);
  const body = script.replace(text, replacement);
  await page.route(`${address}*`, (route) =>
    route.fulfill({ contentType: "text/javascript", body }),
  );
}

const signOut = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.getByText("You are signed out.").waitFor();
};

describe("passkeys in a browser", () => {
  it("a person creates an account, signs out, and signs in with the passkey", async () => {
    const { page, recovery_code } = await registerAndOpenAccount();
    expect(recovery_code).toMatch(/^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/);
    expect(await page.textContent("main")).toContain("Ada Lovelace");
    await signOut(page);
    await signIn(page);
    await page.waitForURL(`${pages.url}/account`);
    await page.getByRole("link", { name: "Security" }).click();
    await page.getByText("last used").waitFor();
    expect(pages.log()).not.toContain(recovery_code);
  });

  it("a person registers for an app and returns to it with a token", async () => {
    const { page } = await open();
    const query = new URLSearchParams({ redirect_to: "http://localhost:3000/back" });
    await page.goto(`${pages.url}/signin?${query.toString()}`);
    await page.getByRole("link", { name: "Create an account with a passkey" }).click();
    await page.getByLabel("Your name").fill("Ada");
    await page.getByRole("button", { name: "Create account" }).press("Enter");
    // No app listens there, so only the request is of interest.
    const landed = page.waitForRequest(/^http:\/\/localhost:3000\/back\?token=/);
    await page.getByRole("button", { name: "I saved the code" }).press("Enter");
    await landed;
  });

  it(
    "a person adds a second passkey, and removes the first one, which no longer signs in",
    { tags: ["slow"] },
    async () => {
      const { page, authenticator } = await registerAndOpenAccount();
      const lost = await open();
      await authenticator.copyTo(lost.authenticator);
      await page.goto(`${pages.url}/account/security`);
      await page.getByLabel("Name of a new passkey").fill("Office computer");
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByText("This device already has a passkey").waitFor();
      await authenticator.clear();
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByText("Linked. You can now sign in this way.").waitFor();
      expect(await page.textContent("main")).toContain("Office computer");
      await page.getByRole("button", { name: /^Remove (?!Office)/ }).click();
      await page.getByText("Unlinked.").waitFor();
      expect(await page.getByRole("button", { name: /^Remove/ }).count()).toBe(0);
      await signIn(lost.page);
      await lost.page.getByRole("heading", { name: "We do not know this passkey" }).waitFor();
      await signOut(page);
      await signIn(page);
      await page.waitForURL(`${pages.url}/account`);
    },
  );

  it("a sent response signs nobody in a second time", async () => {
    const { page } = await registerAndOpenAccount();
    await signOut(page);
    const sent = page.waitForRequest((request) => request.url().endsWith("/signin/passkey"));
    await signIn(page);
    const request = await sent;
    const headers = await request.allHeaders();
    await page.waitForURL(`${pages.url}/account`);
    const replayed = await fetch(`${pages.url}/signin/passkey`, {
      method: "POST",
      redirect: "manual",
      headers: {
        Origin: pages.url,
        Accept: "text/html",
        Cookie: headers["cookie"] ?? "",
        "Content-Type": "application/x-www-form-urlencoded",
      },
      body: request.postData(),
    });
    expect(headers["cookie"]).toContain("passbook_passkey=");
    expect(replayed.status).toBe(400);
    expect(await replayed.text()).toContain("This sign-in has expired");
    expect(replayed.headers.getSetCookie().join()).not.toContain("passbook_session");
  });

  it("the browser refuses a passkey on a page of another origin, and the server refuses its response", async () => {
    const { page, authenticator } = await registerAndOpenAccount();
    const { port } = new URL(pages.url);
    const elsewhere = await open();
    await authenticator.copyTo(elsewhere.authenticator);
    await elsewhere.page.route("http://evil.localhost/**", (route) =>
      route.fulfill({ contentType: "text/html", body: "<!doctype html><title>Evil</title>" }),
    );
    await elsewhere.page.goto("http://evil.localhost/");
    const refused = await elsewhere.page.evaluate(async (rpId) => {
      const challenge = new Uint8Array(32);
      return navigator.credentials.get({ publicKey: { challenge, rpId } }).then(
        () => "signed",
        (error: Error) => error.name,
      );
    }, new URL(pages.url).hostname);
    expect(refused).toBe("SecurityError");
    // The same host at another port is the same relying party, but another origin.
    await signOut(page);
    const parts = 'replaceAll("-", "+").replaceAll("_", "/")';
    await alterScript(
      page,
      "const clientDataJSON = toText(response.clientDataJSON);",
      `const said = atob(toText(response.clientDataJSON).${parts}).replace(":${port}", ":1");
       const clientDataJSON = toText(new TextEncoder().encode(said));`,
    );
    await signIn(page);
    await page.getByRole("heading", { name: "We couldn’t verify this passkey" }).waitFor();
    await vi.waitFor(() => expect(pages.log()).toMatch(/reason["']?: ["']origin["']/));
  });

  it("a cancelled ceremony says so on the page, and the person can try again", async () => {
    const { page, authenticator } = await registerAndOpenAccount();
    await signOut(page);
    await authenticator.verify(false);
    await signIn(page);
    await page.getByText("No passkey was used.").waitFor();
    expect(page.url()).toBe(`${pages.url}/signin`);
    await authenticator.verify(true);
    await page.getByRole("button", { name: "Continue with a passkey" }).click();
    await page.waitForURL(`${pages.url}/account`);
  });

  it("a response without user verification is refused, also if a page did not require it", async () => {
    const { page, authenticator } = await registerAndOpenAccount();
    await signOut(page);
    await authenticator.verify(false);
    await alterScript(page, 'userVerification = "required"', 'userVerification = "discouraged"');
    await signIn(page);
    await page.getByRole("heading", { name: "We couldn’t verify this passkey" }).waitFor();
    await vi.waitFor(() => expect(pages.log()).toContain("user not verified"));
  });

  it("a person who lost the passkey signs in with the recovery code, once", async () => {
    const { recovery_code } = await register();
    const { page } = await open();
    await page.goto(`${pages.url}/signin`);
    await page.getByRole("link", { name: "Use a recovery code" }).click();
    await page.getByLabel("Recovery code").fill(recovery_code.toLowerCase());
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("This is your new one.").waitFor();
    expect(await page.getByLabel("Your recovery code").inputValue()).not.toBe(recovery_code);
    const downloading = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download" }).click();
    expect((await downloading).suggestedFilename()).toBe("recovery-code.txt");
    await page.getByRole("link", { name: "I saved the code" }).click();
    await page.waitForURL(`${pages.url}/account/security`);
    await signOut(page);
    await page.getByRole("link", { name: "Use a recovery code" }).click();
    await page.getByLabel("Recovery code").fill(recovery_code);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("This code is not valid.").waitFor();
  });

  it("without JavaScript, the pages say what passkeys need", { tags: ["slow"] }, async () => {
    const page = await pages.openPage({ ...SCREENS.wide, javaScriptEnabled: false });
    await page.goto(`${pages.url}/signin`);
    expect(await page.textContent("main")).toContain("Passkeys need JavaScript.");
    await page.getByRole("button", { name: "Continue with a passkey" }).click();
    await page.getByRole("heading", { name: "Passkeys need JavaScript" }).waitFor();
  });
});

describe("the pages for passkeys", () => {
  it(
    "the pages for passkeys have no accessibility violation and do not scroll sideways",
    { tags: ["slow"] },
    async () => {
      const { page, authenticator } = await open();
      const look = async (place: string) => {
        await expectForEverybody(page, place);
        await pages.picture(page, place);
        await page.emulateMedia({ colorScheme: "dark" });
        await pages.picture(page, `${place}, dark`);
        await page.emulateMedia({ colorScheme: "light" });
        await page.setViewportSize(SCREENS.phone.viewport);
        await pages.picture(page, `${place}, phone`);
        await page.setViewportSize(SCREENS.wide.viewport);
      };
      await page.goto(`${pages.url}/signin`);
      await look("the sign-in page");
      await authenticator.verify(false);
      await page.getByRole("button", { name: "Continue with a passkey" }).click();
      await page.getByText("No passkey was used.").waitFor();
      await look("a cancelled ceremony");
      await authenticator.verify(true);
      await page.getByRole("link", { name: "Create an account with a passkey" }).click();
      await look("the registration");
      await page.getByLabel("Your name").fill("Ada Lovelace");
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByRole("heading", { name: "Save your recovery code" }).waitFor();
      await look("the recovery code");
      await page.getByRole("link", { name: "I saved the code" }).click();
      await page.getByRole("link", { name: "Security" }).click();
      await authenticator.clear();
      await page.getByLabel("Name of a new passkey").fill("Office computer");
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByText("Linked.").waitFor();
      await look("security");
      await page.goto(`${pages.url}/signin/passkey/recovery`);
      await look("the recovery");
      await page.getByLabel("Recovery code").fill("x");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("This code is not valid.").waitFor();
      await look("a wrong code");
    },
  );
});
