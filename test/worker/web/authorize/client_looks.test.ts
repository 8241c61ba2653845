/** What the consent page shows of a client's document: its icon as a copy, and addresses of its own host. */
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { authorize, registerDemo, signedInBrowser } from "../../support/authorizations.ts";
import { openBrowser } from "../../support/browser.ts";
import { CLAUDE } from "../../support/client_documents.ts";

const OF_CLAUDE = { client_id: CLAUDE.client_id, redirect_uri: CLAUDE.redirect_uris[0] };
const ICON_PATH = `/oauth/authorize/icon?${new URLSearchParams({ client_id: CLAUDE.client_id }).toString()}`;
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

afterEach(() => vi.restoreAllMocks());

/** Serves Claude's document with these fields, and a picture at each other address. @returns the fetched addresses */
function serve(fields: object, picture: Uint8Array = PNG): string[] {
  const fetched: string[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const url = input instanceof Request ? input.url : String(input);
    fetched.push(url);
    return url === CLAUDE.client_id
      ? Response.json({ ...CLAUDE, ...fields })
      : new Response(picture, { headers: { "Content-Type": "text/html" } });
  });
  return fetched;
}

describe("the addresses of a client that nobody registered", () => {
  it("addresses on the client's own host or below it are links that leave the page open", async () => {
    serve({
      client_uri: "https://claude.ai/about",
      policy_uri: "https://legal.claude.ai/privacy",
      tos_uri: "https://claude.ai/terms?a=1&b=2",
    });
    const { text } = await authorize(await signedInBrowser(), OF_CLAUDE);
    for (const href of [
      "https://claude.ai/about",
      "https://legal.claude.ai/privacy",
      "https://claude.ai/terms?a=1&amp;b=2",
    ]) {
      expect(text).toContain(`<a href="${href}" target="_blank" rel="noopener noreferrer">`);
    }
  });

  it.each([
    "https://example.com/",
    "https://notclaude.ai/",
    "https://claude.ai.example.com/",
    "http://claude.ai/",
    "https://claude.ai:8443/",
    "https://user@claude.ai/",
    "javascript:alert(1)",
    7,
  ])("the address %j is not shown, and the client can still be connected", async (address) => {
    serve({ client_uri: address, policy_uri: address, tos_uri: address, logo_uri: address });
    const page = await authorize(await signedInBrowser(), OF_CLAUDE);
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('target="_blank"');
    expect(page.text).not.toContain("/oauth/authorize/icon");
  });
});

describe("the look of a registered client's app", () => {
  it("the icon and the colour of its app stand above the title", async () => {
    await registerDemo();
    await env.DIRECTORY.prepare("update apps set color = '#7b1fa2' where slug = 'demo'").run();
    const { text } = await authorize(await signedInBrowser());
    const [head = ""] = text.split("<h1>");
    expect(head).toContain('fill="#7b1fa2"');
    expect(head).toContain('class="app-icon"');
  });

  it("a client that nobody registered chooses nothing above the title", async () => {
    serve({ logo_uri: "https://claude.ai/icon.png" });
    const [head = ""] = (await authorize(await signedInBrowser(), OF_CLAUDE)).text.split("<h1>");
    expect(head).not.toContain("app-icon");
  });
});

describe("the icon of a client that nobody registered", () => {
  const ICON = "https://claude.ai/icon.png";

  it("a signed-in person gets a copy from our own origin, which is made once", async () => {
    const fetched = serve({ logo_uri: ICON });
    const browser = await signedInBrowser();
    const page = await authorize(browser, OF_CLAUDE);
    expect(page.text).toContain(`src="${ICON_PATH}"`);
    expect(page.text).not.toContain(ICON);
    expect(fetched).toEqual([CLAUDE.client_id]);
    const icon = await browser.get(ICON_PATH);
    expect(icon.status).toBe(200);
    expect(Object.fromEntries(icon.headers)).toMatchObject({
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
    });
    await vi.waitFor(async () => {
      expect((await browser.get(ICON_PATH)).status).toBe(200);
      expect(fetched.filter((url) => url === ICON)).toHaveLength(1);
    });
  });

  it("nothing is fetched for a signed-out person, for a client without an icon, or for an address that is no client", async () => {
    const fetched = serve({ logo_uri: ICON });
    expect((await openBrowser().get(ICON_PATH)).status).toBe(404);
    const browser = await signedInBrowser();
    const other = `/oauth/authorize/icon?client_id=${encodeURIComponent("http://10.0.0.1/x")}`;
    expect((await browser.get(other)).status).toBe(404);
    await registerDemo();
    expect((await browser.get("/oauth/authorize/icon?client_id=demo~web")).status).toBe(404);
    expect(fetched).toEqual([]);
    serve({});
    expect((await browser.get(ICON_PATH)).status).toBe(404);
  });

  it("a file that is no picture is not shown", async () => {
    serve({ logo_uri: ICON }, new TextEncoder().encode("<svg onload=alert(1)>"));
    expect((await (await signedInBrowser()).get(ICON_PATH)).status).toBe(404);
  });
});
