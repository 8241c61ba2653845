/** The real browser of the page tests: headless Chromium, with its security as shipped. */
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { chromium, type Browser } from "playwright-core";

/** Starts Chromium. The caller closes it. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = await unpackBrowser();
  // Not `bundled.args`: they switch web security off, which is what is tested here.
  const args = ["--no-sandbox", "--disable-gpu"];
  return chromium.launch({ executablePath, args });
}

/**
 * Unpacks Chromium, with the system libraries and fonts it needs, where it is not yet. The package does not lock what
 * it unpacks, so the setup of all test files does it before the first of them.
 * @returns the program's path.
 */
export async function unpackBrowser(): Promise<string> {
  // The package unpacks into the temporary folder.
  const unpacked = resolve("node_modules/.cache/chromium");
  await mkdir(unpacked, { recursive: true });
  process.env["TMPDIR"] = unpacked;
  process.env["AWS_EXECUTION_ENV"] ??= "AWS_Lambda_nodejs22.x";
  const { default: bundled } = await import("@sparticuz/chromium");
  bundled.setGraphicsMode = false;
  const executablePath = await bundled.executablePath();
  await useFonts(unpacked);
  return executablePath;
}

/**
 * The package looks for its fonts under /tmp only. Without any font, text has no size, so that nothing
 * can be clicked, and pages crash.
 */
async function useFonts(unpacked: string): Promise<void> {
  const file = join(unpacked, "fonts.conf");
  const places = ["/usr/share/fonts", join(unpacked, "fonts")].map((path) => `<dir>${path}</dir>`);
  const cache = `<cachedir>${join(unpacked, "fonts-cache")}</cachedir>`;
  await writeFile(file, `<fontconfig>${places.join("")}${cache}</fontconfig>\n`);
  process.env["FONTCONFIG_FILE"] = file;
}
