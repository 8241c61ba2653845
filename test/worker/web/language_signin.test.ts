/** The pages of sign-in and sign-out in German. */
import { describe, expect, it } from "vitest";
import { registerDemo, signedInBrowser } from "../support/authorizations.ts";
import { BACK, openBrowser, type Browser } from "../support/browser.ts";
import { register, ONLY_PASSKEYS } from "../support/passkeys.ts";
import type { Answer } from "../support/passbook.ts";
import { connect, openProviderDouble } from "../support/provider_double.ts";

const GERMAN = { "Accept-Language": "de-AT, en;q=0.5" };

/** The text that a person reads. */
const textOf = ({ text }: Answer): string =>
  text
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll("&amp;", "&");

async function expectGerman(page: Answer, sentences: readonly string[]): Promise<void> {
  expect(page.text).toContain('<html lang="de" data-locale="de-DE">');
  for (const sentence of sentences) expect(textOf(page)).toContain(sentence);
}

/** Chooses German, also for the pages that follow a form. */
const chooseGerman = (browser: Browser): Promise<Answer> =>
  browser.post("/language", { language: "de", back_to: "/signin" });

describe("the pages of sign-in in German", () => {
  it("the sign-in page says in German how to sign in, and to which app", async () => {
    const query = new URLSearchParams({ redirect_to: BACK }).toString();
    const page = await openBrowser().get(`/signin?${query}`, GERMAN);
    await expectGerman(page, [
      "Bei localhost:3000 anmelden · Passbook",
      "Mit Passbook haben Sie eine Anmeldung und ein Guthaben für viele Apps.",
      "Nach der Anmeldung geht es zurück zu localhost:3000 .",
      "Nur für die Entwicklung: Jede Adresse funktioniert, ohne Passwort.",
    ]);
  });

  it("an address that is not complete is refused in German", async () => {
    const browser = openBrowser();
    await chooseGerman(browser);
    const page = await browser.post("/signin/dev", { email: "ada" });
    expect(page.status).toBe(400);
    await expectGerman(page, ["Geben Sie eine vollständige E-Mail-Adresse ein"]);
  });

  it("a person who is signed in confirms an app in German", async () => {
    const browser = await signedInBrowser();
    const query = new URLSearchParams({ redirect_to: BACK }).toString();
    await expectGerman(await browser.get(`/signin?${query}`, GERMAN), [
      "Weiter zu localhost:3000",
      "Sie sind als ada@example.com angemeldet.",
      "Damit kann localhost:3000 Ihr Konto und Ihre Credits verwenden.",
      "Weiter als ada@example.com",
      "Anderes Konto verwenden",
    ]);
  });

  it("a sign-in that failed says in German why, with the name of the provider as it is", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const page = await browser.get("/signin/callback/acme?error=access_denied&state=x", GERMAN);
    await expectGerman(page, [
      "Diese Anmeldung ist abgelaufen",
      `Weiter mit ${String(acme.settings.name)}`,
    ]);
  });

  it("the page of a new account gives the script of passkeys its German texts", async () => {
    const page = await openBrowser(ONLY_PASSKEYS).get("/signin/passkey/new", GERMAN);
    await expectGerman(page, [
      "Konto mit einem Passkey erstellen",
      "Ein Passkey ersetzt ein Passwort.",
      "Danach bekommen Sie einen Wiederherstellungscode",
    ]);
    expect(page.text).toContain(
      'data-exists="Dieses Gerät hat schon einen Passkey für Ihr Konto."',
    );
  });

  it("a recovery code is used and replaced in German", async () => {
    const { recovery_code } = await register(openBrowser(ONLY_PASSKEYS));
    const browser = openBrowser(ONLY_PASSKEYS);
    await chooseGerman(browser);
    const refused = await browser.post("/signin/passkey/recovery", { code: "wrong" });
    await expectGerman(refused, ["Dieser Code gilt nicht. Prüfen Sie jedes Zeichen."]);
    const page = await browser.post("/signin/passkey/recovery", { code: recovery_code });
    await expectGerman(page, [
      "Wiederherstellungscode sichern",
      "Wir zeigen ihn nur dieses eine Mal.",
    ]);
    expect(page.text).toContain('download="wiederherstellungscode.txt"');
    expect(page.text).toContain(encodeURIComponent("Er gilt einmal."));
  });
});

describe("the pages of sign-out in German", () => {
  it("the page that asks before an app signs a person out is in German", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const page = await browser.get("/oauth/logout?client_id=demo~web", GERMAN);
    await expectGerman(page, [
      "Von Passbook abmelden?",
      "Demo web möchte Sie in diesem Browser abmelden.",
      "Angemeldet bleiben",
    ]);
  });

  it("a request that cannot be followed says so in German", async () => {
    const browser = await signedInBrowser();
    const page = await browser.get("/oauth/logout?client_id=nobody~none", GERMAN);
    await expectGerman(page, ["Wir kennen diese App nicht", "sind Sie es noch.", "Ihr Konto"]);
  });
});
