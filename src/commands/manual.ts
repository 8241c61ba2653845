/**
 * The manual that the console shows below `/console/help`: each page of `docs` as a fragment of HTML. The Worker reads the
 * fragments from its static files, so that they are no part of its code.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Marked, type Tokens } from "marked";

/** A page of the manual. `html` is without the title. */
export interface ManualPage {
  readonly title: string;
  readonly html: string;
}

/** The pages that an operator needs first, in this order. The others follow by name. */
const FIRST = ["operate", "alerts", "operators", "drills", "keep", "settings"];

/** The name of the list of all pages. */
const LIST = "index";

/** All pages by name, with the list of them. */
export async function manualPages(): Promise<ReadonlyMap<string, ManualPage>> {
  const files = await readdir("docs");
  const names = files.filter((file) => file.endsWith(".md")).map((file) => file.slice(0, -3));
  const ordered = [...new Set([...FIRST, ...names.toSorted()])];
  const pages = new Map<string, ManualPage>();
  for (const name of ordered) {
    pages.set(name, renderPage(await readFile(join("docs", `${name}.md`), "utf8"), names));
  }
  const items = [...pages].map(([name, { title }]) => linkTo(name, "", escaped(title)));
  const html = `<ul>${items.map((item) => `<li>${item}</li>`).join("")}</ul>`;
  return pages.set(LIST, { title: "Help", html });
}

const linkTo = (name: string, anchor: string, text: string): string =>
  `<a href="/console/help/${name}${anchor}">${text}</a>`;

function renderPage(markdown: string, names: readonly string[]): ManualPage {
  let title = "";
  const sections: string[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const inner = this.parser.parseInline(tokens);
        const anchor = anchorOf(text);
        if (depth === 2) sections.push(`<li><a href="#${anchor}">${inner}</a></li>`);
        if (depth > 1) return `<h${depth} id="${anchor}">${inner}</h${depth}>\n`;
        title = this.parser.parseInline(tokens, this.parser.textRenderer);
        return "";
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const [, name = "", anchor = ""] = /^([a-z-]*)(?:\.md)?(#.*)?$/.exec(href) ?? [];
        if (names.includes(name)) return linkTo(name, anchor, text);
        if (/^(https:|#)/.test(href)) return `<a href="${escaped(href)}">${text}</a>`;
        // A file of the repository that is no page.
        return text;
      },
      table(token: Tokens.Table) {
        const table = new Marked().parser([token]);
        return `<div class="scrolls" role="group" tabindex="0" aria-label="Table">${table}</div>`;
      },
      image: ({ text }) => escaped(text),
      html: ({ text }) => escaped(text),
    },
  });
  const text = marked.parse(markdown, { async: false });
  const list = `<nav aria-label="On this page"><ul>${sections.join("")}</ul></nav>`;
  return { title, html: sections.length === 0 ? text : list + text };
}

/** The anchor of a heading, as in the links of `docs`. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

/** A text as HTML. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
}
