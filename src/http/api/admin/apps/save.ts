/** `PUT /api/admin/apps/{slug}`: registers an app, or changes a registered one. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../../../../account/contract.ts";
import type { Changes } from "../../../../domain/audit.ts";
import { EXPIRY_OUTCOMES, OVERAGE_MAX_PERCENT, SETTLERS } from "../../../../domain/app_policy.ts";
import { parseAllowedOrigin } from "../../../../domain/origins.ts";
import type { Refusal } from "../../../../domain/refusals.ts";
import { APP_ICON_MAX_BYTES, type AppIconProblem } from "../../../../domain/app_icon.ts";
import { isPublicHttpsUrl } from "../../../../domain/public_url.ts";
import { CAP_PERIODS } from "../../../../domain/spending_cap.ts";
import {
  MAIL_DOMAIN_PATTERN,
  STARTER_EXCLUDED_DOMAINS_MAX,
} from "../../../../domain/starter_rule.ts";
import { accepted, refused, type Result } from "../../../../domain/result.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import type { Services } from "../../../services.ts";
import {
  appSlug,
  cost,
  idempotencyKey,
  shownText,
  validBody,
  wellFormed,
} from "../../../validation.ts";
import { respondDone } from "../../../views.ts";
import { performActionOnce, reason as reasonText } from "../audited_action.ts";

type AppRecord = NonNullable<Awaited<ReturnType<Services["app_records"]["find"]>>>;

/** Longest name of an app, in UTF-16 code units. */
const APP_NAME_MAX_LENGTH = 200;

/** Origins registered for one app. Each cross-origin request is compared with all of them. */
const ORIGINS_PER_APP_MAX = 50;

/** Providers whose upstream tokens one app may get: more than any deployment configures. */
const UPSTREAM_PROVIDERS_PER_APP_MAX = 50;

/** The version in `If-Match`: an entity tag, or the bare number. */
const IF_MATCH = /^"?(\d{1,15})"?$/;

const INVALID_ORIGIN =
  "must be an origin such as https://app.example.com, https://*.example.com (only for a domain that " +
  "you own), myapp://callback or http://localhost:3000";

const origin = z
  .string("must be a string")
  .check(z.refine((entry) => parseAllowedOrigin(entry) !== null, INVALID_ORIGIN));

const INVALID_ICON =
  "must be an https address with a public host name and no port, such as https://app.example.com/icon.png";

const domain = z.pipe(
  z.string("must be a string"),
  z
    .transform((text: string) => text.toLowerCase())
    .check(z.regex(MAIL_DOMAIN_PATTERN, "must be an e-mail domain, such as mailinator.com")),
);

const provider = z
  .string("must be a string")
  .check(z.regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "must be a provider's id, such as google"));

/** Strict, so that a misspelt setting is refused, not treated as omitted. An omitted optional setting keeps its value. */
export const saveAppBody = z.strictObject({
  name: z
    .string("must be a string")
    .check(
      z.trim(),
      z.minLength(1, "must not be empty"),
      z.maxLength(APP_NAME_MAX_LENGTH, `must have at most ${APP_NAME_MAX_LENGTH} characters`),
      wellFormed,
      shownText,
    ),
  starter_credits: cost,
  origins: z
    .array(origin, "must be a list of origins")
    .check(z.maxLength(ORIGINS_PER_APP_MAX, `must have at most ${ORIGINS_PER_APP_MAX} entries`)),
  daily_starter_budget: z.nullable(cost),
  settle: z.optional(z.enum(SETTLERS, "must be holder or app")),
  on_expiry: z.optional(z.enum(EXPIRY_OUTCOMES, "must be refund or charge")),
  max_overage_percent: z.optional(
    z.nullable(
      z
        .int("must be a whole number")
        .check(
          z.gte(0, "must not be negative"),
          z.lte(OVERAGE_MAX_PERCENT, `must be at most ${OVERAGE_MAX_PERCENT}`),
        ),
    ),
  ),
  upstream_providers: z.optional(
    z.array(provider, "must be a list of providers' ids").check(
      z.maxLength(
        UPSTREAM_PROVIDERS_PER_APP_MAX,
        `must have at most ${UPSTREAM_PROVIDERS_PER_APP_MAX} entries`,
      ),
      z.refine((ids) => new Set(ids).size === ids.length, "must have no duplicates"),
    ),
  ),
  icon: z.optional(
    z.nullable(z.string("must be text or null").check(z.refine(isPublicHttpsUrl, INVALID_ICON))),
  ),
  color: z.optional(
    z.nullable(
      z.pipe(
        z
          .string("must be text or null")
          .check(z.regex(/^#[0-9a-f]{6}$/i, "must be a colour such as #12507b")),
        z.transform((text) => text.toLowerCase()),
      ),
    ),
  ),
  suggested_cap: z.optional(
    z.nullable(
      z.strictObject(
        { credits: cost, period: z.enum(CAP_PERIODS, `must be ${CAP_PERIODS.join(" or ")}`) },
        "must be { credits, period } or null",
      ),
    ),
  ),
  starter_excluded_domains: z.optional(
    z
      .array(domain, "must be a list of e-mail domains")
      .check(
        z.maxLength(
          STARTER_EXCLUDED_DOMAINS_MAX,
          `must have at most ${STARTER_EXCLUDED_DOMAINS_MAX} entries`,
        ),
      ),
  ),
  version: z.optional(
    z.int("must be a whole number").check(z.gte(0, "must be the version that you read")),
  ),
  reason: z.optional(reasonText),
});

const ICON_MESSAGES: Readonly<Record<AppIconProblem, string>> = {
  unreachable: "its server could not be reached. Check the address.",
  timeout: "its server took longer than 5 seconds. Try again, or use another address.",
  status: "its server did not respond with status 200. Use an address that needs no redirect.",
  too_large: `it is larger than ${APP_ICON_MAX_BYTES / 1024} KiB. Use a smaller picture, such as 128 by 128 pixels.`,
  not_a_picture: "it is not a PNG, JPEG, WebP or ICO picture. SVG is not accepted.",
};

export type SaveApp = z.output<typeof saveAppBody>;

/**
 * Finds a wildcard origin over a shared hosting suffix, where strangers can register names. The message has the form of
 * a schema's message. Null if all origins are acceptable.
 */
export async function findOriginProblem(
  context: AppContext,
  { origins }: SaveApp,
): Promise<{ readonly index: number; readonly message: string } | null> {
  const parsed = origins.map(parseAllowedOrigin);
  const owned = await context.get("services").keepOwned(parsed.filter((origin) => origin !== null));
  const index = parsed.findIndex((origin) => origin === null || !owned.includes(origin));
  return index < 0 ? null : { index, message: INVALID_ORIGIN };
}

/**
 * Registers an app (version 0), or changes a registered app if its version is still the one that the operator read.
 * `key` is the operator's idempotency key.
 */
export function saveApp(
  context: AppContext,
  slug: string,
  { reason, version = 0, ...settings }: SaveApp,
  key: string | undefined,
): Promise<OnceAnswer<null>> {
  const details = { ...settings, version };
  const action = { act: "app.save", subject: slug, reason: reason ?? null, details, key };
  const { app_records } = context.get("services");
  let known: AppRecord | null = null;
  return performActionOnce(
    context,
    action,
    async (audit_id) => {
      known = await app_records.find(slug);
      const icon = await copyIcon(context, known, settings.icon);
      if (!icon.ok) return icon;
      return app_records.save(slug, { ...settings, icon: icon.value }, { version, audit_id });
    },
    // A save succeeds only if nobody saved the app after this version.
    () => (known?.version === version ? changesBetween(known, settings) : null),
  );
}

/** The copy of an icon to save. Undefined, as if omitted, if the app already has a copy from this address. */
async function copyIcon(context: AppContext, known: AppRecord | null, url: SaveApp["icon"]) {
  if (url === undefined || url === null) return accepted(url);
  if (known?.icon === url) return accepted(undefined);
  const copied = await context.get("services").copyAppIcon(url);
  if (copied.ok) return copied;
  const detail = `The icon could not be copied: ${ICON_MESSAGES[copied.refusal]}`;
  return refused({ code: "invalid_request", detail } as const);
}

/** The settings that differ from those of the app before. An omitted setting keeps its value. */
function changesBetween(known: AppRecord, settings: object): Changes {
  const before = known as unknown as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(settings)
      .map(([name, to]) => [name, { from: before[name] ?? null, to: to as unknown }] as const)
      .filter(
        ([, { from, to }]) => to !== undefined && JSON.stringify(from) !== JSON.stringify(to),
      ),
  );
}

/** The settings with the version of `If-Match`. Refused if that contradicts the field `version`. */
function withIfMatch(settings: SaveApp, if_match: string | undefined): Result<SaveApp, Refusal> {
  if (if_match === undefined) return accepted(settings);
  const [, digits] = IF_MATCH.exec(if_match) ?? [];
  const version = Number(digits);
  if (digits !== undefined && (settings.version ?? version) === version) {
    return accepted({ ...settings, version });
  }
  const detail = `If-Match must be the version that you read, such as "3", and the same as the field version.`;
  return refused({ code: "invalid_request", detail });
}

export const putApp = factory.createHandlers(validBody(saveAppBody), async (context) => {
  const slug = appSlug.safeParse(context.req.param("slug"));
  if (!slug.success) {
    const detail = `The app's slug ${slug.error.issues[0]?.message}.`;
    return refuse(context, { code: "invalid_request", detail });
  }
  const read = withIfMatch(context.req.valid("json"), context.req.header("If-Match"));
  if (!read.ok) return refuse(context, read.refusal);
  const settings = read.value;
  const problem = await findOriginProblem(context, settings);
  if (problem !== null) {
    const detail = `origins.${problem.index} ${problem.message}.`;
    return refuse(context, { code: "invalid_request", detail });
  }
  const key = idempotencyKey(context);
  return respondDone(context, await saveApp(context, slug.data, settings, key));
});
