/**
 * The static files beside the Worker, outside its script and start-up: `/openapi.json`, `/docs`, under
 * `/static` what the pages load, and, for the Worker only, the list of shared hosting suffixes.
 */
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Where wrangler.toml looks for them. */
const FOLDER = ".wrangler/assets";

/** Of the viewer's package, what the page loads. */
const VIEWER_FILES = ["swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png", "LICENSE"];

/** Nothing inline, no other host. `img-src data:` for the icons in the viewer's stylesheet. */
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

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Passbook API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="docs"></div>
<noscript>The API is described in <a href="/openapi.json">openapi.json</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
`;

/** `validatorUrl: null`: the viewer would otherwise send the document to a validator elsewhere. */
const START = `window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  tryItOutEnabled: false,
});
`;

/** What the style sheets are made of, in order. The console's is beside that of all pages. */
const STYLES = {
  "passbook.css": ["base.css", "shell.css", "account.css", "statement.css"],
  "console.css": ["console.css"],
} as const;

const SCRIPTS = ["forms.js", "live.js", "times.js"];

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
/static/*
  Cache-Control: public, max-age=86400
  Content-Security-Policy: default-src 'none'; frame-ancestors 'none'
${SAFE}
/openapi.json
  Access-Control-Allow-Origin: *
${SAFE}`;

/** Writes them all. Safe to run again, and while Wrangler serves. */
export async function prepareAssets(): Promise<void> {
  const viewer = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  await mkdir(join(FOLDER, "docs"), { recursive: true });
  for (const file of VIEWER_FILES) await cp(join(viewer, file), join(FOLDER, "docs", file));
  await cp("docs/openapi.json", join(FOLDER, "openapi.json"));
  await cp("src/domain/hosting_suffixes.txt", join(FOLDER, "hosting_suffixes.txt"));
  await writeFile(join(FOLDER, "docs.html"), PAGE);
  await writeFile(join(FOLDER, "docs", "start.js"), START);
  await writeFile(join(FOLDER, "_headers"), HEADERS);
  await preparePageFiles(join(FOLDER, "static"));
}

async function preparePageFiles(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [sheet, parts] of Object.entries(STYLES)) {
    const styles = await Promise.all(
      parts.map((name) => readFile(join("src/web/style", name), "utf8")),
    );
    await writeFile(join(folder, sheet), styles.join(""));
  }
  for (const name of SCRIPTS) await cp(join("src/web/scripts", name), join(folder, name));
}
