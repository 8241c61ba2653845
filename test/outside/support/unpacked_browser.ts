/** Chromium is unpacked once, before test files that start it at the same time. */
import { unpackBrowser } from "./chromium.ts";

/** Vitest runs this once, before the first test file. */
export default async function setup(): Promise<void> {
  // Test files get the environment of now, and their temporary folder stays where it was.
  const { TMPDIR } = process.env;
  await unpackBrowser();
  if (TMPDIR === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = TMPDIR;
}
