/** Unpacks Chromium once, before several test files start it at the same time. */
import { unpackBrowser } from "./chromium.ts";

/** Vitest runs this once, before the first test file. */
export default async function setup(): Promise<void> {
  // Test files inherit this environment, so their temporary folder must not change.
  const { TMPDIR } = process.env;
  await unpackBrowser();
  if (TMPDIR === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = TMPDIR;
}
