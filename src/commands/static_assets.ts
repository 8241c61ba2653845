/**
 * The static files that are deployed with the Worker: `/openapi.json`, `/docs`, the reference of the client, the styles and
 * scripts of the pages under `/static`, and two that only the Worker reads: the list of shared hosting suffixes, and the
 * manual.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { manualPages } from "./manual.ts";
import { referencePages } from "./reference_pages.ts";

/** The folder that wrangler.toml names. */
const FOLDER = ".wrangler/assets";

/** The files of the viewer's package that the page loads. */
const VIEWER_FILES = ["swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png", "LICENSE"];

/** No inline code, no other host. `data:` images are the icons in the viewer's style sheet. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The reference has no code at all. */
const REFERENCE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Passbook API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<p>For TypeScript and JavaScript: <a href="/docs/client">the reference of the client</a>.</p>
<div id="docs"></div>
<noscript>The API is described in <a href="/openapi.json">openapi.json</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
`;

/** Without `validatorUrl: null` the viewer would send the document to an external validator. */
const START = `window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  tryItOutEnabled: false,
});
`;

/** The parts of each style sheet, in order. The console loads both sheets. */
const STYLES = {
  "passbook.css": ["base.css", "shell.css", "account.css", "statement.css"],
  "console.css": ["console.css"],
} as const;

const SCRIPTS = [
  "allowance.js",
  "copy.js",
  "forms.js",
  "live.js",
  "passkey.js",
  "select.js",
  "times.js",
];

const SAFE = `  X-Content-Type-Options: nosniff
  X-Frame-Options: DENY
  Referrer-Policy: same-origin
  Strict-Transport-Security: max-age=31536000
`;

const HEADERS = `/docs
  Content-Security-Policy: ${POLICY}
${SAFE}
/docs/*
${SAFE}
/docs/client
  Content-Security-Policy: ${REFERENCE_POLICY}

/docs/client/*
  Content-Security-Policy: ${REFERENCE_POLICY}

/static/*
  Cache-Control: public, max-age=86400
  Content-Security-Policy: default-src 'none'; frame-ancestors 'none'
${SAFE}
/openapi.json
  Access-Control-Allow-Origin: *
${SAFE}`;

/** Writes all files. It is safe to repeat, even while Wrangler serves them. */
export async function prepareAssets(): Promise<void> {
  const viewer = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  await mkdir(join(FOLDER, "docs"), { recursive: true });
  for (const file of VIEWER_FILES) await copy(join(viewer, file), join(FOLDER, "docs", file));
  // Without its indentation, which is nearly half of it.
  const document: unknown = JSON.parse(await readFile("docs/openapi.json", "utf8"));
  await replace(join(FOLDER, "openapi.json"), JSON.stringify(document));
  await copy("src/domain/hosting_suffixes.txt", join(FOLDER, "hosting_suffixes.txt"));
  await replace(join(FOLDER, "docs.html"), PAGE);
  await replace(join(FOLDER, "docs", "start.js"), START);
  await replace(join(FOLDER, "_headers"), HEADERS);
  const styles = await preparePageFiles(join(FOLDER, "static"));
  await prepareReference(styles);
  await prepareManual(join(FOLDER, "manual"));
}

async function prepareManual(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, page] of await manualPages()) {
    await replace(join(folder, `${name}.json`), JSON.stringify(page));
  }
}

/** `styles`: all style sheets. */
async function prepareReference(styles: string): Promise<void> {
  await mkdir(join(FOLDER, "docs", "client"), { recursive: true });
  for (const [path, page] of referencePages(styles)) {
    await replace(join(FOLDER, `${path}.html`), page);
  }
}

/** Returns all style sheets. */
async function preparePageFiles(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const sheets: string[] = [];
  for (const [sheet, parts] of Object.entries(STYLES)) {
    const styles = await Promise.all(
      parts.map((name) => readFile(join("src/web/style", name), "utf8")),
    );
    await replace(join(folder, sheet), styles.join(""));
    sheets.push(...styles);
  }
  for (const name of SCRIPTS) await copy(join("src/web/scripts", name), join(folder, name));
  return sheets.join("");
}

async function copy(from: string, to: string): Promise<void> {
  await replace(to, await readFile(from));
}

/** Replaces a file at once: another process that starts Wrangler finds the old file or the new one. */
async function replace(path: string, content: string | Uint8Array): Promise<void> {
  const part = join(dirname(FOLDER), `${process.pid}-${basename(path)}`);
  await writeFile(part, content);
  await rename(part, path);
}
