/** The account's pages in German. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { deliver, openCheckout, SELLING } from "../../payments/till.ts";
import { getToken, tokenId } from "../../support/device_logins.ts";
import {
  BASE_URL,
  send,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../support/passbook.ts";
import { CHOICE, openShop, switchOn } from "../../top_up/topped_up.ts";

const headersOf = (person: SignedIn) => ({
  Cookie: person.cookies,
  Origin: BASE_URL,
  Accept: "text/html",
  "Accept-Language": "de-AT, en;q=0.5",
});

/** The text of a German page, without its markup. */
const words = (html: string): string =>
  html
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .replace(/ ([.,?])/g, "$1");

async function read(person: SignedIn, path: string, settings: object = {}): Promise<string> {
  const { text } = await send("GET", path, { headers: headersOf(person) }, settings);
  expect(text).toContain('<html lang="de" data-locale="de-DE">');
  return text;
}

const submit = (
  person: SignedIn,
  path: string,
  form: Record<string, string>,
  settings: object = {},
) => send("POST", path, { headers: headersOf(person), body: new URLSearchParams(form) }, settings);

async function startJob(person: SignedIn, job: object = {}): Promise<string> {
  const body = { app: "demo", action: "draw", cost_estimate: 10, ...job };
  return (await person.post("/api/jobs", body)).body.job_id;
}

const SHORT_DAY = String.raw`\d+\. \S+`;

describe("the account's pages in German", () => {
  it("the German overview has German sentences, numbers and times", async () => {
    const ada = await signInWithCredits();
    const account = env.ACCOUNT.getByName(ada.identity_id);
    expect(words(await read(ada, "/account"))).toContain(
      "Sie haben 100 Credits Startguthaben von Demo erhalten. Wenn eine App einen Job für Sie ausführt, zahlen Sie mit Credits.",
    );
    const terms = { expires_at_ms: null, app_slugs: null, bought: false };
    await account.adjustCredits({ amount: 12_000, note: "a trial", terms }, null);
    await startJob(ada);
    const html = await read(ada, "/account");
    const text = words(html);
    expect(html).toContain(
      'data-say="Ihr Guthaben beträgt 12.090 Credits. 10 für 1 laufenden Job reserviert."',
    );
    expect(text).toContain("Seit Eröffnung Ihres Kontos. Reservierte Credits sind für");
    expect(text).toMatch(new RegExp(`draw Demo · ${SHORT_DAY}, \\d\\d:\\d\\d Läuft 10 reserviert`));
    expect(text).toContain("In den letzten 30 Tagen haben Sie nichts ausgegeben.");
    expect(text).toMatch(/Mitglied seit \d\d\.\d\d\.\d{4} Konto-ID/);
    expect(text).toMatch(/Demo verwendet am \d\d\.\d\d\.\d{4} 0 diesen Monat ausgegeben/);
    expect(text).toContain("Sie können auch Ihr Konto löschen.");
  });

  it("the German pages of jobs and of one job say what a job cost and who started it", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, {}, { client_name: "Laptop" });
    const job = { app: "demo", action: "draw", cost_estimate: 10 };
    const { job_id } = (await token.post("/api/jobs", job)).body;
    expect(words(await read(ada, "/account/jobs"))).toContain("· von Token „Laptop“ Läuft");
    expect(words(await read(ada, `/account/jobs/${job_id}`))).toContain(
      "Der Job endet sofort, als wäre seine Zeit abgelaufen. Schließt seine App ihn trotzdem ab, zahlen Sie,",
    );
    await token.post("/api/jobs/complete", { job_id, actual_cost: 4 });
    const text = words(await read(ada, `/account/jobs/${job_id}`));
    expect(text).toContain("−4 Credits 10 waren reserviert, solange er lief.");
    expect(text).toMatch(/Gestartet von Token „Laptop“ Status Fertig Aktion draw/);
    expect(text).toContain("4 Credits abgerechnet, 6 freigegeben");
  });

  it("the German statement has a German month, and its CSV file is the English one", async () => {
    const ada = await signInWithCredits();
    const job_id = await startJob(ada);
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 4 });
    const html = await read(ada, "/account/statement");
    const text = words(html);
    const now = new Date();
    const month = now.toLocaleDateString("de-DE", {
      month: "long",
      year: "numeric",
      timeZone: "UTC",
    });
    expect(html).toContain(`<title>Kontoauszug, ${month} · `);
    expect(text).toContain("Guthaben 96 Ausgegeben −4 Hinzugekommen +100 Am Anfang 0");
    expect(text).toMatch(/draw \d\d:\d\d · Fertig · Demo −4, Guthaben 96 Wann Was Guthaben danach/);
    expect(text).toContain("Startguthaben");
    expect(text).toContain(`Die CSV-Datei enthält jede Änderung im ${month}: jedes Mal`);
    const csv = await send("GET", "/account/statement.csv", { headers: headersOf(ada) });
    expect(csv.text).toContain('"Charged 4 credits of 10 held"');
    expect(csv.text).toContain('"Starter credits"');
  });

  it("a German statement of fifty jobs stays small", async () => {
    const ada = await signInWithCredits();
    for (let count = 0; count < 50; count += 1) {
      const metadata = { description: `Nummer ${count} einer Reihe langer Beschreibungen` };
      const job_id = await startJob(ada, { cost_estimate: 0, metadata });
      await ada.post("/api/jobs/complete", { job_id, actual_cost: 0 });
    }
    const html = await read(ada, "/account/statement?kind=jobs");
    expect(new TextEncoder().encode(html).byteLength).toBeLessThan(60 * 1024);
  });

  it("the German page of access says what each connection may do, and asks before one ends", async () => {
    const ada = await signInWithCredits();
    const cap = { credits: 5_000, period: "month" };
    const token = await getToken(ada, { apps: ["demo"], caps: [cap] }, { client_name: "Laptop" });
    const text = words(await read(ada, "/account/access"));
    expect(text).toContain("Außer diesem Browser haben Zugriff auf Ihr Konto: 1 App und 1 Token.");
    expect(text).toMatch(/0 Credits im \S+ \d{4} ausgegeben/);
    expect(text).toContain("Darf in Demo lesen und Credits ausgeben. 0 von 5.000 Credits");
    expect(text).toMatch(/ausgegeben, beginnt neu am 1\. \S+, 00:00/);
    expect(text).toMatch(/Gerät oder Programm. Erstellt am \d.* verwendet.*, läuft am [\d.]+ ab\./);
    expect(text).toContain("Überall abmelden Damit melden Sie jeden Browser ab, auch diesen.");
    const id = encodeURIComponent(await tokenId(token));
    expect(words(await read(ada, `/account/access/revoke?id=${id}`))).toContain(
      "„Laptop“ widerrufen?",
    );
    expect(words(await read(ada, "/account/access/stop?app=demo"))).toContain(
      "Sie kann keine Jobs mehr starten, und auch keine andere App",
    );
    expect(words(await read(ada, `/account/access/edit?id=${id}`))).toContain(
      "Die Änderung gilt ab der nächsten Anfrage. Was ausgegeben ist, bleibt ausgegeben.",
    );
  });

  it("the German list of browsers names their program and place in German", async () => {
    const ada = await signIn();
    await signIn();
    await env.DIRECTORY.prepare(
      "update sessions set browser = 'Firefox on Windows', city = 'Graz', country = 'AT'",
    ).run();
    const text = words(await read(ada, "/account/access"));
    expect(text).toContain("Firefox unter Windows");
    expect(text).toContain("Graz, Österreich · 2 Anmeldungen, die letzte am");
    expect(text).toContain("1 andere beenden : Sitzungen von Firefox unter Windows");
  });

  it("the German form of a token says in German what is wrong, and shows the token", async () => {
    const ada = await signInWithCredits();
    const form = { access: "write", reach: "some", other_apps: "demo", credits: "40" };
    const limits = { ...form, period: "month", days: "30" };
    const refused = await submit(ada, "/account/tokens/new", { ...limits, label: "" });
    expect(refused.status).toBe(400);
    expect(words(refused.text)).toContain(
      "Geben Sie dem Token einen Namen mit höchstens 80 sichtbaren Zeichen.",
    );
    const made = await submit(ada, "/account/tokens/new", { ...limits, label: "Build" });
    expect(words(made.text)).toContain(
      "Es läuft in 30 Tagen ab; Sie können es jederzeit widerrufen.",
    );
  });

  it("the German page Security says how the person signs in", async () => {
    const text = words(await read(await signIn(), "/account/security"));
    expect(text).toMatch(/So melden Sie sich an Entwicklung seit \d\d\.\d\d\.\d{4} Das ist Ihre/);
    expect(text).toContain("was sonst Ihr Konto verwenden kann, steht auf der Seite Zugriff.");
    const with_passkeys = { SIGNIN_METHODS: "providers,passkey" };
    expect(words(await read(await signIn(), "/account/security", with_passkeys))).toContain(
      "Passkey hinzufügen Mit einem Passkey melden Sie sich per Fingerabdruck, Gesicht oder",
    );
  });

  it("an account is deleted with the German word, and with no other", async () => {
    const ada = await signInWithCredits();
    const text = words(await read(ada, "/account/delete", SELLING));
    expect(text).toContain("100 Credits, auch gekaufte, ohne Erstattung");
    expect(text).toContain("Geben Sie zur Bestätigung löschen ein");
    const refused = await submit(ada, "/account/delete", { confirmation: "ja" });
    expect(refused.status).toBe(400);
    expect(words(refused.text)).toContain("Geben Sie nur das Wort „löschen“ ein.");
    // Some keyboards write ö as o and a combining mark.
    const typed = { confirmation: " Löschen ".normalize("NFD") };
    const deleted = await submit(ada, "/account/delete", typed);
    expect(deleted.status).toBe(200);
    expect(words(deleted.text)).toContain("Ihr Konto ist gelöscht");
  });
});

describe("buying credits in German", () => {
  it("prices and purchases have German amounts", async () => {
    const stripe = openShop();
    const ada = await signIn();
    await deliver(stripe.completes(await openCheckout(ada, "large")));
    const text = words(await read(ada, "/account", { ...SELLING }));
    expect(text).toContain("Large 1.000 Credits Für 33,33 EUR kaufen");
    expect(text).toContain("Automatisches Aufladen kauft neue, bevor sie aufgebraucht sind.");
    expect(words(await read(ada, "/account/purchases", SELLING))).toContain(
      "33,33 EUR Beleg für Large",
    );
    const back = new URLSearchParams({ return_to: `${BASE_URL}/approve/x`, checkout: "cancelled" });
    expect(words(await read(ada, `/account/paid?${back.toString()}`, SELLING))).toContain(
      "Kauf abgebrochen",
    );
  });

  it("the German form of automatic top-up reads and shows German amounts", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const html = await read(ada, "/account/top-up", SELLING);
    expect(html).toContain('value="50,00"');
    expect(words(html)).toContain("0,00 EUR von höchstens 50,00 EUR");
    expect(words(html)).toContain("Small, 100 Credits, 5,00 EUR");
    expect(words(html)).toContain("Karte Visa mit den Endziffern 4242");
    const typed = { ...CHOICE, act: "save", month_limit: "1.200,50" };
    expect((await submit(ada, "/account/top-up", typed, SELLING)).status).toBe(303);
    expect(words(await read(ada, "/account/top-up", SELLING))).toContain("höchstens 1.200,50 EUR");
    const refused = await submit(
      ada,
      "/account/top-up",
      { ...typed, month_limit: "60.00" },
      SELLING,
    );
    expect(refused.status).toBe(400);
    expect(words(refused.text)).toContain(
      "Geben Sie einen Betrag von 5,00 EUR, dem Preis des Pakets, bis 999.999,99 EUR ein.",
    );
  });
});
