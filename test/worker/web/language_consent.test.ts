/** The pages of consent, of approvals and of device login in German. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { COST_MAX_CREDITS } from "../../../src/domain/limits.ts";
import { NOT_CREDITS } from "../../../src/web/allowance/cap_choice.tsx";
import { GERMAN as GERMAN_TEXTS } from "../../../src/web/language/german.ts";
import {
  allow,
  authorize,
  registerDemo,
  serveDocuments,
  signedInBrowser,
} from "../support/authorizations.ts";
import { CLAUDE } from "../support/client_documents.ts";
import { fromOwnPage, getToken, startLogin } from "../support/device_logins.ts";
import {
  send,
  signIn,
  signInWithCredits,
  type Answer,
  type SignedIn,
} from "../support/passbook.ts";

const GERMAN = { "Accept-Language": "de" };

/** The text that a person reads. */
const textOf = ({ text }: Answer): string =>
  text
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll("&amp;", "&");

/** The same without the spaces that stand for elements. */
const closeTextOf = ({ text }: Answer): string =>
  text.replaceAll(/<[^>]+>/g, "").replaceAll(/\s+/g, " ");

async function expectGerman(page: Answer, sentences: readonly string[]): Promise<void> {
  expect(page.text).toContain('<html lang="de" data-locale="de-DE">');
  for (const sentence of sentences) {
    expect(`${textOf(page)}\n${closeTextOf(page)}`).toContain(sentence);
  }
}

const get = (person: SignedIn, path: string): Promise<Answer> =>
  send("GET", path, {
    headers: { Cookie: person.cookies, Accept: "text/html", "Sec-Fetch-Site": "none", ...GERMAN },
  });

const post = (person: SignedIn, path: string, form: Record<string, string>): Promise<Answer> =>
  send("POST", path, {
    headers: { ...fromOwnPage(person), Accept: "text/html", ...GERMAN },
    body: new URLSearchParams(form),
  });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2027-02-10T12:00:00Z") });
});

describe("the consent page in German", () => {
  it("the page says in German what an app may spend, in which apps and until when, and what it wants", async () => {
    serveDocuments([CLAUDE]);
    const browser = await signedInBrowser();
    await browser.post("/language", { language: "de", back_to: "/account" });
    const suggested = { caps: [{ credits: 1_234, period: "month" }], apps: ["claude.ai"] };
    const page = await authorize(browser, {
      client_id: CLAUDE.client_id,
      redirect_uri: CLAUDE.redirect_uris[0],
      scope: "openid email write offline_access",
      authorization_details: JSON.stringify([{ type: "passbook_spending", ...suggested }]),
    });
    await expectGerman(page, [
      "Claude verbinden?",
      "Sie erlauben Ausgaben von höchstens 50 Credits insgesamt, nur in claude.ai, bis 12. März.",
      "Angefragt: 1.234 Credits pro Monat.",
      "Eine App von claude.ai",
      "Passbook hat diese App nicht geprüft.",
      "Diese App möchte",
      "Ihre E-Mail-Adresse sehen",
      "30 Tage",
      "nur in claude.ai – ändern",
      "Ablehnen",
    ]);
    expect(page.text).toContain('data-most="Sie erlauben Ausgaben von höchstens {limits}"');
    expect(page.text).toContain('data-some-apps="nur in {apps}"');
    expect(page.text).not.toContain("undefined");

    const refused = await allow(browser, page, { credits: "viel" });
    expect(refused.status).toBe(400);
    await expectGerman(refused, [
      "Fehler: Claude verbinden?",
      "Es wurde noch kein Zugriff erteilt. Ihre Angaben sind noch da. Bitte berichtigen Sie:",
      GERMAN_TEXTS[NOT_CREDITS],
    ]);
  });

  it("both languages name the largest number of credits of a limit", () => {
    expect(NOT_CREDITS).toContain(new Intl.NumberFormat("en-GB").format(COST_MAX_CREDITS));
    const german = new Intl.NumberFormat("de-DE").format(COST_MAX_CREDITS);
    expect(GERMAN_TEXTS[NOT_CREDITS]).toContain(german);
  });

  it("a request that cannot be decided says so in German", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    await browser.post("/language", { language: "de", back_to: "/account" });
    const other = "https://evil.example/";
    await expectGerman(await authorize(browser, { redirect_uri: other }), [
      "Zu dieser Adresse können wir Sie nicht zurückschicken",
      "Vielleicht versucht jemand, an Ihren Zugriff zu kommen.",
      other,
    ]);
    await expectGerman(await authorize(browser, { client_id: undefined }), [
      "Wir wissen nicht, welche App das ist",
      "Die Anfrage hat keine client_id. Es wurde nichts weitergegeben oder geändert.",
    ]);
  });
});

describe("the page of an approval in German", () => {
  it("the page asks in German, with numbers and times as Germans write them, and says what was decided", async () => {
    const ada = await signInWithCredits("demo");
    const agent = await getToken(ada, { caps: [{ credits: 20, period: "month" }] });
    const job = { app: "demo", action: "render a film", cost_estimate: 1_500 };
    const { body } = await agent.post("/api/jobs", job);
    const { pathname } = new URL(body.approval_url);
    await expectGerman(await get(ada, pathname), [
      "Diesen Job genehmigen?",
      "Kostet höchstens 1.500 Credits",
      "20 Credits pro Monat: 0 ausgegeben, 20 übrig",
      "– zu wenig für diesen Job",
      "Ihr Guthaben ist um 1.500 Credits zu niedrig, deshalb kann der Job noch nicht starten.",
      "Entscheiden Sie bis 10. Feb., 12:15.",
    ]);
    await post(ada, `${pathname}/deny`, {});
    await expectGerman(await get(ada, pathname), [
      "Sie haben diesen Job abgelehnt",
      "„render a film“ wurde nicht gestartet",
    ]);
  });

  it("another person reads in German that the request is not theirs", async () => {
    const grace = await signIn("grace@example.com");
    await expectGerman(await get(grace, `/approve/${crypto.randomUUID()}`), [
      "Diese Anfrage gehört zu einem anderen Konto",
      "Sie sind als grace@example.com angemeldet. In diesem Konto gibt es diese Anfrage nicht",
    ]);
  });
});

describe("the device page in German", () => {
  it("a person enters a code, compares it and connects the device in German", async () => {
    const ada = await signIn();
    await expectGerman(await get(ada, "/device"), ["Gerät verbinden", "Geben Sie den Code ein"]);
    const { user_code } = await startLogin({ client_name: "Build box" });
    const page = await get(ada, `/device?user_code=${user_code}`);
    await expectGerman(page, [
      "Dieses Gerät verbinden?",
      "Nennt sich Build box",
      "gerade eben (12:00 UTC), Ort: unbekannt",
      "Genehmigen Sie nur, wenn Sie das selbst begonnen haben, und zwar gerade eben",
    ]);
    const form = { user_code, access: "write", reach: "all", credits: "5", period: "total" };
    const wrong = await post(ada, "/device/approve", { ...form, last_letters: "XXXX" });
    await expectGerman(wrong, [
      "Fehler: Dieses Gerät verbinden",
      "Diese Buchstaben passen nicht zu diesem Code.",
    ]);
    const last_letters = user_code.slice(-4);
    const done = await post(ada, "/device/approve", { ...form, last_letters });
    await expectGerman(done, ["Gerät verbunden", "Es ist in wenigen Sekunden angemeldet."]);
    const again = await get(ada, `/device?user_code=${user_code}`);
    await expectGerman(again, ["Dieser Code wurde schon verwendet"]);
    await expectGerman(await get(ada, "/device?user_code=BCDFGHJK"), ["Unbekannter Code"]);
  });
});
