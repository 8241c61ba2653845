/** The browser of the page tests: headless Chromium with its default security. */
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { chromium, type Browser } from "playwright-core";

/** Starts Chromium. The caller closes it. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = await unpackBrowser();
  // Not `bundled.args`, which switch off the web security that the tests rely on.
  const args = ["--no-sandbox", "--disable-gpu"];
  return chromium.launch({ executablePath, args });
}

/**
 * Unpacks Chromium with its libraries and fonts, unless that is done. The package takes no lock, so the global set-up
 * unpacks before the first test file.
 * @returns the path of the program
 */
export async function unpackBrowser(): Promise<string> {
  const unpacked = resolve("node_modules/.cache/chromium");
  await mkdir(unpacked, { recursive: true });
  await useFonts(unpacked);
  process.env["AWS_EXECUTION_ENV"] ??= "AWS_Lambda_nodejs22.x";
  // The package unpacks into the temporary folder, which is another one for everything else in this process.
  const { TMPDIR } = process.env;
  process.env["TMPDIR"] = unpacked;
  try {
    const { default: bundled } = await import("@sparticuz/chromium");
    bundled.setGraphicsMode = false;
    return await bundled.executablePath();
  } finally {
    if (TMPDIR === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = TMPDIR;
  }
}

/**
 * The package looks for fonts in /tmp only. Without a font, text has no size, so tests cannot click, and pages crash.
 */
async function useFonts(unpacked: string): Promise<void> {
  const file = join(unpacked, "fonts.conf");
  const folders = ["/usr/share/fonts", join(unpacked, "fonts")].map((path) => `<dir>${path}</dir>`);
  const cache = `<cachedir>${join(unpacked, "fonts-cache")}</cachedir>`;
  await writeFile(file, `<fontconfig>${folders.join("")}${cache}</fontconfig>\n`);
  process.env["FONTCONFIG_FILE"] = file;
}
