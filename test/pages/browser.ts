/** The real browser of the page tests: headless Chromium, with its security as shipped. */
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { chromium, type Browser } from "playwright-core";

/** Starts Chromium. The caller closes it. */
export async function launchBrowser(): Promise<Browser> {
  // It unpacks itself into the temporary folder, with the system libraries it needs.
  const folder = resolve("node_modules/.cache/chromium");
  await mkdir(folder, { recursive: true });
  process.env["TMPDIR"] = folder;
  process.env["AWS_EXECUTION_ENV"] ??= "AWS_Lambda_nodejs22.x";
  // Its own font configuration looks in /tmp alone; without a font all text has no size.
  const font_configuration = join(folder, "passbook-fonts.conf");
  await writeFile(
    font_configuration,
    `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`,
  );
  process.env["FONTCONFIG_FILE"] = font_configuration;
  const { default: bundled } = await import("@sparticuz/chromium");
  bundled.setGraphicsMode = false;
  // Not `bundled.args`: they switch web security off, which is what is tested here.
  const args = ["--no-sandbox", "--disable-gpu"];
  return chromium.launch({ executablePath: await bundled.executablePath(), args });
}
