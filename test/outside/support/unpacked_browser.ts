/** Unpacks Chromium once, before several test files start it at the same time. */
import { unpackBrowser } from "./chromium.ts";

/** Vitest runs this once, before the first test file. */
export default async function setup(): Promise<void> {
  await unpackBrowser();
}
