/** `SUPPORT_URL`: the contact on every page, and on jobs and purchases with their id. */
import { describe, expect, it } from "vitest";
import { change } from "../../support/account_object.ts";
import {
  BASE_URL,
  send,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../support/passbook.ts";

const HELP = "https://example.com/help?from=<passbook>";
const PAGE = { SUPPORT_URL: HELP };
const MAIL = { SUPPORT_URL: "mailto:help@example.com?subject=Passbook" };

function open(person: SignedIn | null, path: string, settings: object) {
  const headers = { Accept: "text/html", ...(person === null ? {} : { Cookie: person.cookies }) };
  return send("GET", path, { headers }, settings);
}

describe("the contact of the settings", () => {
  it.each(["/nowhere", "/signin?redirect_to=https://evil.test/", "/signin/callback/acme"])(
    "the error page of %s links to the contact",
    async (path) => {
      const { status, text } = await open(null, path, PAGE);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(text).toContain('href="https://example.com/help?from=%3Cpassbook%3E"');
      expect(text).toContain("Contact support");
    },
  );

  it("the pages before and after a deletion link to the contact", async () => {
    const ada = await signIn();
    expect((await open(ada, "/account/delete", MAIL)).text).toContain("Write to help@example.com");
    const headers = { Cookie: ada.cookies, Origin: BASE_URL, Accept: "text/html" };
    const body = new URLSearchParams({ confirmation: "delete" });
    const deleted = await send("POST", "/account/delete", { headers, body }, MAIL);
    expect(deleted.text).toContain('href="mailto:help@example.com?subject=Passbook"');
  });

  it("the page of a suspended account links to the contact and to the person's data", async () => {
    const ada = await signIn();
    await ada.get("/api/wallet");
    await change(ada.identity_id, "update account set suspended_at_ms = 1");
    const { text } = await open(ada, "/account", MAIL);
    expect(text).toContain("Write to help@example.com");
    expect(text).toContain('href="/account/data.json"');
  });

  it.each([
    "/account",
    "/account/jobs",
    "/account/statement",
    "/account/access",
    "/account/security",
    "/account/purchases",
    "/account/tokens/new",
    "/account/delete",
    "/device",
  ])("the page %s links to the contact once", async (path) => {
    const { text } = await open(await signIn(), path, MAIL);
    expect(text.match(/Write to help@example\.com/g)).toHaveLength(1);
  });

  it("a job's page passes the job's id to the contact, in the query or in the subject", async () => {
    const ada = await signInWithCredits();
    const job = { app: "demo", action: "draw", cost_estimate: 1 };
    const { job_id } = (await ada.post("/api/jobs", job)).body;
    const path = `/account/jobs/${job_id}`;
    const ask = (text: string) => /href="([^"]+)">Something wrong\?/.exec(text)?.[1];
    expect(ask((await open(ada, path, PAGE)).text)).toBe(
      `https://example.com/help?from=%3Cpassbook%3E&amp;job=${job_id}`,
    );
    expect(ask((await open(ada, path, MAIL)).text)).toBe(
      `mailto:help@example.com?subject=Passbook%3A%20job%20${job_id}`,
    );
    const without_subject = { SUPPORT_URL: "mailto:help@example.com", SERVICE_NAME: "Credit & Co" };
    expect(ask((await open(ada, path, without_subject)).text)).toBe(
      `mailto:help@example.com?subject=Credit%20%26%20Co%3A%20job%20${job_id}`,
    );
    expect(ask((await open(ada, path, {})).text)).toBeUndefined();
  });

  it("a page names no contact if the settings have none", async () => {
    expect((await open(null, "/nowhere", {})).text).not.toContain("Need help?");
  });

  it.each([
    "http://example.com/help",
    "javascript:alert(1)",
    "https://user:secret@example.com/",
    "mailto:",
    "mailto:help@example.com?bcc=eve@example.com",
    "mailto:help@example.com,eve@example.com",
    "help@example.com",
  ])("startup refuses %s as the contact", async (SUPPORT_URL) => {
    const answer = await send("GET", "/api/wallet", {}, { SUPPORT_URL });
    expect(answer).toMatchObject({ status: 500, body: { code: "misconfigured" } });
  });
});
