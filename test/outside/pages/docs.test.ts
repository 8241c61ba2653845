import { describe, expect, it } from "vitest";
import { usePages } from "../support/pages_in_browser.ts";

const pages = usePages("docs");

describe("/static", () => {
  it.each([
    ["passbook.css", "text/css", 36],
    ["console.css", "text/css", 11],
    ["forms.js", "text/javascript", 1],
    ["times.js", "text/javascript", 3],
    ["select.js", "text/javascript", 2],
    ["live.js", "text/javascript", 5],
  ])("/static serves %s, small and cacheable", async (name, type, most_kib) => {
    const file = await fetch(`${pages.url}/static/${name}?v=1`);
    expect(file.status).toBe(200);
    const { headers } = file;
    expect(headers.get("Content-Type")).toContain(type);
    expect(headers.get("Cache-Control")).toBe("public, max-age=86400");
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect((await file.arrayBuffer()).byteLength).toBeLessThan(most_kib * 1024);
  });

  it("/static serves every file that the pages name", async () => {
    const page = await (await fetch(`${pages.url}/signin`)).text();
    const [, address = ""] = /href="(\/static\/passbook\.css\?v=[^"]*)"/.exec(page) ?? [];
    expect((await fetch(`${pages.url}${address}`)).status).toBe(200);
    expect((await fetch(`${pages.url}/static/nothing.css`)).status).toBe(404);
  });
});

describe("/docs", () => {
  it(
    "/docs shows the whole API document, loads only from this host and respects its CSP",
    { tags: ["slow"] },
    async () => {
      const page = await pages.openPage();
      const problems: string[] = [];
      const hosts = new Set<string>();
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("request", (request) => hosts.add(new URL(request.url()).origin));
      await page.goto(`${pages.url}/docs`);
      await page.getByText("Create a job and reserve its estimate").click();
      await page.getByText("Idempotency-Key").first().waitFor();
      await pages.picture(page, "light");
      await page.setViewportSize({ width: 390, height: 800 });
      await pages.picture(page, "phone");
      expect(problems).toEqual([]);
      expect([...hosts].filter((origin) => origin !== pages.url && origin !== "null")).toEqual([]);
      const document = (await (await fetch(`${pages.url}/openapi.json`)).json()) as {
        paths: Record<string, object>;
        webhooks: Record<string, object>;
      };
      const items = [document.paths, document.webhooks].flatMap((group) => Object.values(group));
      const count = items.flatMap((item) => Object.keys(item)).length;
      expect(await page.locator(".opblock").count()).toBe(count);
    },
  );

  it("/docs has a strict CSP, and any origin may read /openapi.json", async () => {
    const docs = await fetch(`${pages.url}/docs`);
    expect(docs.status).toBe(200);
    const policy = docs.headers.get("Content-Security-Policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    const document = await fetch(`${pages.url}/openapi.json`);
    expect(document.headers.get("Content-Type")).toContain("application/json");
    expect(document.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(document.headers.get("X-Content-Type-Options")).toBe("nosniff");
  });

  it("every path outside /docs and /static reaches the Worker", async () => {
    const answer = await fetch(`${pages.url}/_headers`);
    expect([answer.status, await answer.json()]).toMatchObject([404, { code: "not_found" }]);
    expect((await fetch(`${pages.url}/docs.html`, { redirect: "manual" })).status).toBe(404);
  });
});
