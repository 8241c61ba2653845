/** The manual in the console: the page to which a warning links. */
import { describe, expect, it } from "vitest";
import { FIGURE_NAMES } from "../../../../src/domain/health.ts";
import { send, signIn } from "../../support/passbook.ts";
import { SETTINGS } from "../../http/api/admin/operators.ts";
import { openConsole, words, type ConsoleBrowser } from "./pages.ts";

const linksOf = (html: string): string[] =>
  [...html.matchAll(/href="(\/console\/help[^"]*)"/g)].map(([, href = ""]) => href);

const readsAll = async ({ open }: ConsoleBrowser): Promise<Map<string, string>> => {
  const { text } = await open("/console/help");
  const paths = linksOf(text.slice(text.indexOf("<main")));
  const pages = paths.map(async (path) => [path, (await open(path)).text] as const);
  return new Map(await Promise.all(pages));
};

describe("the manual", () => {
  it("every page of the console links to the manual, which has a paragraph for each figure of health", async () => {
    const { open } = await openConsole();
    expect(linksOf((await open("/console/accounts")).text)).toContain("/console/help");
    const { status, text } = await open("/console/help/alerts");
    expect(status).toBe(200);
    for (const name of FIGURE_NAMES) expect(text).toContain(`<h3 id="${name}">`);
    expect(words(text)).toContain("More than 20 responses with status 5xx in 20 minutes.");
  });

  it("each link of the manual leads to a page, and to a heading of it", async () => {
    const pages = await readsAll(await openConsole());
    expect(pages.size).toBeGreaterThan(20);
    for (const [page, text] of pages) {
      const own = [...text.matchAll(/href="(#[^"]+)"/g)].map(([, anchor = ""]) => page + anchor);
      for (const link of [...linksOf(text), ...own]) {
        const [path = "", anchor] = link.split("#");
        if (path === "/console/help") continue;
        const at = `${page}: ${link}`;
        expect(pages.get(path), at).toBeDefined();
        if (anchor === undefined || anchor === "main") continue;
        expect(pages.get(path), at).toContain(` id="${anchor}"`);
      }
    }
  });

  it("an unknown page is 404, and a person who is no operator gets 403", async () => {
    const { open } = await openConsole();
    for (const name of ["nothing", "..%2Findex", "Operate"]) {
      expect((await open(`/console/help/${name}`)).status).toBe(404);
    }
    const ada = await signIn("ada@example.com");
    const headers = { Cookie: ada.cookies, Accept: "text/html" };
    const shown = await send("GET", "/console/help/operate", { headers }, SETTINGS);
    expect(shown.status).toBe(403);
    expect(shown.text).not.toContain("failed_requests");
  });
});
