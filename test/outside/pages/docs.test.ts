import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PACKAGE_ENTRIES } from "../../../src/commands/package_entries.ts";
import { expectForEverybody, usePages } from "../support/pages_in_browser.ts";

const pages = usePages("docs");

describe("/static", () => {
  it.each([
    ["passbook.css", "text/css", 36],
    ["console.css", "text/css", 15],
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

/** The names that a module of `src` exports, as its text has them. */
function exportsOf(module: string): string[] {
  const source = readFileSync(`src/${module}.ts`, "utf8");
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = ""]) =>
    list.split(",").map((name) => name.replace(/^\s*type /, "").trim()),
  );
  const own = [
    ...source.matchAll(/^export (?:async )?(?:function\*?|interface|type|const|class) (\w+)/gm),
  ].map(([, name = ""]) => name);
  const others = [...source.matchAll(/^export \* from "\.\/(\w+)\.ts"/gm)].flatMap(
    ([, name = ""]) => exportsOf(module.replace(/\w+$/, name)),
  );
  return [...lists, ...own, ...others].filter((name) => name !== "");
}

const ENTRY_PAGES = Object.entries(PACKAGE_ENTRIES).map(
  ([entry, module]) => [`/docs/client/${entry.slice(2) || "client"}`, module] as const,
);

describe("/docs/client", () => {
  const read = async (path: string): Promise<string> => {
    const response = await fetch(`${pages.url}${path}`);
    expect(response.status, path).toBe(200);
    return response.text();
  };

  it.each(ENTRY_PAGES)(
    "%s has every export of the entry, with its docstring and its declaration",
    async (path, module) => {
      const page = await read(path);
      const sections = page.split("<h2 ").slice(1);
      const shown = sections.map((section) => /^id="(\w+)"/.exec(section)?.[1] ?? section);
      expect(shown.toSorted()).toEqual([...new Set(exportsOf(module))].toSorted());
      const undocumented = sections.filter((section) => !/<\/h2><p>.+?<pre><code>./s.test(section));
      expect(undocumented).toEqual([]);
    },
  );

  it("every link between the pages of the reference leads to a page and a heading", async () => {
    const paths = ["/docs/client", ...ENTRY_PAGES.map(([path]) => path)];
    const texts = new Map<string, string>();
    for (const path of paths) texts.set(path, await read(path));
    const broken = [...texts].flatMap(([path, text]) =>
      [...text.matchAll(/<a [^>]*href="([^"]*)"/g)]
        .map(([, href = ""]) => new URL(href, `${pages.url}${path}`))
        .filter(({ pathname, hash }) => {
          if (pathname === "/docs") return false;
          return texts.get(pathname)?.includes(`id="${hash.slice(1) || "main"}"`) !== true;
        })
        .map(({ href }) => `${href} on ${path}`),
    );
    expect(broken).toEqual([]);
    expect(texts.get("/docs/client/client")).toContain('<a href="#Job">Job</a>');
    expect(texts.get("/docs/client/react")).toContain('<a href="/docs/client/client#Job">Job</a>');
    expect(await read("/docs")).toContain('<a href="/docs/client">');
  });

  it("the reference has a CSP that allows no code at all, and one of each header", async () => {
    for (const path of ["/docs/client", "/docs/client/react"]) {
      const { headers } = await fetch(`${pages.url}${path}`);
      expect(headers.get("Content-Security-Policy")).toMatch(
        /^default-src 'none'; style-src 'self'/,
      );
      expect(headers.get("Content-Security-Policy")).not.toMatch(/script|unsafe|connect/);
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("X-Frame-Options")).toBe("DENY");
    }
    expect((await fetch(`${pages.url}/docs/client/nothing`)).status).toBe(404);
  });

  it(
    "everybody can read the reference: on a phone, in the dark and with a keyboard",
    { tags: ["slow"] },
    async () => {
      const page = await pages.openPage();
      const problems: string[] = [];
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
      for (const path of ["/docs/client", "/docs/client/react", "/docs/client/oauth"]) {
        await page.goto(`${pages.url}${path}`);
        await expectForEverybody(page, path);
        await pages.picture(page, path.split("/").at(-1) ?? "");
      }
      await page.goto(`${pages.url}/docs/client/react`);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
      await page.getByRole("link", { name: "useWallet", exact: true }).first().click();
      await page.locator("#useWallet:target").waitFor();
      expect(problems).toEqual([]);
    },
  );
});
