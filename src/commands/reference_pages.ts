/** The reference of the client as pages below `/docs/client`: one for each entry of the package, and the list of them. */
import { createHash } from "node:crypto";
import { Marked } from "marked";
import {
  readClientReference,
  type ReferenceEntry,
  type ReferenceExport,
} from "./client_reference.ts";
import { escaped } from "./manual.ts";

/** The path of the list. The page of an entry is below it. */
const ROOT = "/docs/client";

/** All pages by path, as documents. `styles` are the style sheets: browsers load them again if they change. */
export function referencePages(styles: string): ReadonlyMap<string, string> {
  const entries = readClientReference();
  const version = createHash("sha256").update(styles).digest("hex").slice(0, 8);
  const links = [{ path: ROOT, name: "All entries" }].concat(
    entries.map((entry) => ({ path: pathOf(entry), name: shortName(entry) })),
  );
  const page = (path: string, title: string, html: string): [string, string] => [
    path,
    documentOf({ path, title, html, links, version }),
  ];
  return new Map([
    page(ROOT, "The client", listOf(entries)),
    ...entries.map((entry) => page(pathOf(entry), entry.specifier, entryOf(entry, entries))),
  ]);
}

const shortName = ({ specifier }: ReferenceEntry): string => specifier.split("/")[1] ?? "client";
const pathOf = (entry: ReferenceEntry): string => `${ROOT}/${shortName(entry)}`;

interface Shown {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly links: readonly { readonly path: string; readonly name: string }[];
  readonly version: string;
}

function documentOf({ path, title, html, links, version }: Shown): string {
  const items = links.map(({ path: to, name }) => {
    const current = to === path ? ' aria-current="page"' : "";
    return `<a href="${to}"${current}>${name}</a>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Passbook</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/passbook.css?v=${version}">
<link rel="stylesheet" href="/static/console.css?v=${version}">
<link rel="stylesheet" href="/theme.css">
</head>
<body class="wide">
<header class="bar">
<a class="skip" href="#main">Skip to the content</a>
<div class="bar-inside"><nav aria-label="Entries">${items.join("")}</nav></div>
</header>
<main id="main" tabindex="-1"><h1>${title}</h1><section class="panel manual">${html}</section></main>
<footer class="page-end"><a href="/docs">The HTTP API</a></footer>
</body>
</html>
`;
}

function listOf(entries: readonly ReferenceEntry[]): string {
  const items = entries.map(
    (entry) =>
      `<h2><a href="${pathOf(entry)}"><code>${entry.specifier}</code></a></h2>` +
      markdown(entry.docs, entry, entries),
  );
  return `<p>The calls and types of the package. Its README is the manual.</p>${items.join("")}`;
}

function entryOf(entry: ReferenceEntry, entries: readonly ReferenceEntry[]): string {
  const items = entry.exports.map(({ name }) => `<li><a href="#${name}">${name}</a></li>`);
  const sections = entry.exports.map((exported) => sectionOf(exported, entry, entries));
  return (
    markdown(entry.docs, entry, entries) +
    `<nav aria-label="On this page"><ul>${items.join("")}</ul></nav>${sections.join("")}`
  );
}

function sectionOf(
  { name, docs, tags, code }: ReferenceExport,
  entry: ReferenceEntry,
  entries: readonly ReferenceEntry[],
): string {
  const told = tags.map((tag) => {
    if (tag.name === "example") return `<pre><code>${escaped(tag.text)}</code></pre>`;
    const [first = "", ...rest] = tag.name;
    return markdown(`**${first.toUpperCase()}${rest.join("")}** ${tag.text}`, entry, entries);
  });
  return (
    `<h2 id="${name}"><code>${name}</code></h2>${markdown(docs, entry, entries)}` +
    `<pre><code>${linked(code, name, entry, entries)}</code></pre>${told.join("")}`
  );
}

/** The address of an export: on the page of `entry`, or on that of the first entry that has it. */
function addressOf(
  name: string,
  entry: ReferenceEntry,
  entries: readonly ReferenceEntry[],
): string | undefined {
  const found = [entry, ...entries].find(({ exports }) => exports.some((it) => it.name === name));
  if (found === undefined) return undefined;
  return found === entry ? `#${name}` : `${pathOf(found)}#${name}`;
}

const LINK = /\{@link (\w+)((?:\.\w+)*)\}/g;

/** A docstring as HTML. */
function markdown(text: string, entry: ReferenceEntry, entries: readonly ReferenceEntry[]): string {
  const with_links = text.replaceAll(LINK, (_, name: string, member: string) => {
    const address = addressOf(name, entry, entries);
    return address === undefined ? `\`${name}${member}\`` : `[\`${name}${member}\`](${address})`;
  });
  const marked = new Marked({ renderer: { html: ({ text: html }) => escaped(html) } });
  return marked.parse(with_links, { async: false });
}

/** A comment, a text, or a name. */
const TOKEN = /(\/\*[^]*?\*\/|\/\/.*)|"(?:[^"\\]|\\.)*"|`[^`]*`|([A-Za-z_$][\w$]*)|[^]/g;

/** TypeScript as HTML. Names of exports are links. */
function linked(
  code: string,
  own_name: string,
  entry: ReferenceEntry,
  entries: readonly ReferenceEntry[],
): string {
  return code.replaceAll(TOKEN, (token: string, comment?: string, name?: string) => {
    if (comment !== undefined) {
      const plain = comment.replaceAll(LINK, (_, link: string, member: string) => link + member);
      return `<span class="hint">${escaped(plain)}</span>`;
    }
    const address =
      name === undefined || name === own_name ? undefined : addressOf(name, entry, entries);
    return address === undefined ? escaped(token) : `<a href="${address}">${name}</a>`;
  });
}
