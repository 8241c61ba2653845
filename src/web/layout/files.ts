/**
 * The style sheet and scripts of the pages. They lie among the static files (`commands/static_assets.ts`),
 * which cost neither an invocation nor bytes of the Worker's script.
 */
import { shellOf } from "./shell.ts";

export type PageScript = "forms.js" | "live.js" | "times.js";

/** The file's address: another one with each release, so that browsers may keep it. */
export function addressOf(name: PageScript | "console.css" | "passbook.css"): string {
  return `/static/${name}?v=${shellOf().release}`;
}
