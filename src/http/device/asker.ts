/** What can be told of whoever starts a device login, for the approver to recognise or to doubt. */
import * as z from "zod";
import type { Asker } from "../../device/contract.ts";
import { CLIENT_NAME_MAX_LENGTH } from "../../domain/limits.ts";
import type { AppContext } from "../context.ts";
import { appSlug } from "../validation.ts";

/** What a client may say of itself at start; all of it is optional. */
export const askerBody = z.object({
  app: appSlug.optional(),
  client_name: z
    .string("must be a string")
    .trim()
    .min(1, "must not be empty")
    .max(CLIENT_NAME_MAX_LENGTH, `must have at most ${CLIENT_NAME_MAX_LENGTH} characters`)
    // Control and format characters could hide or turn round what the approver reads; those that
    // nothing shows (fillers, selectors, the blank Braille pattern) could make a name look empty.
    .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{DI}\u2800\u{1d159}]*$/u, "must be plain text")
    .regex(/[\p{L}\p{N}\p{P}\p{S}]/u, "must show something")
    .optional(),
});

const PROGRAMS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg\//, "Microsoft Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\//, "Firefox"],
  [/\bChrome\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//i, "curl"],
  [/^wget\//i, "Wget"],
  [/\bdeno\b/i, "Deno"],
  [/\bbun\b/i, "Bun"],
  [/\bnode\b|\bundici\b/i, "Node.js"],
  [/\bpython\b|aiohttp|httpx/i, "Python"],
  [/^go-http-client/i, "Go"],
  [/\bokhttp\b|\bjava\b/i, "Java"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bWindows\b/, "Windows"],
  [/\biPhone\b|\biPad\b/, "iOS"],
  [/\bMac OS X\b|\bDarwin\b/, "macOS"],
  [/\bAndroid\b/, "Android"],
  [/\bLinux\b/, "Linux"],
];

/** The kind of program behind a `User-Agent`, such as "Firefox on Windows"; null where unknown. */
export function programOf(user_agent: string): string | null {
  const named = (list: typeof PROGRAMS) => list.find(([sign]) => sign.test(user_agent))?.[1];
  const program = named(PROGRAMS);
  const system = named(SYSTEMS);
  if (program === undefined) return system ?? null;
  return system === undefined ? program : `${program} on ${system}`;
}

/** The country that a request comes from, as ISO 3166-1 names it; null where that is not known. */
export function countryOf(context: AppContext): string | null {
  const country = context.req.raw.cf?.country;
  return typeof country === "string" && country !== "XX" ? country : null;
}

/** The asker of a login that this request starts. */
export function askerOf(context: AppContext, body: z.output<typeof askerBody>): Asker {
  const city = context.req.raw.cf?.city;
  return {
    client_name: body.client_name ?? null,
    app_slug: body.app ?? null,
    program: programOf(context.req.header("User-Agent") ?? ""),
    city: typeof city === "string" ? city : null,
    country: countryOf(context),
  };
}
