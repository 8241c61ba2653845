/** `PUT /api/admin/apps/{slug}`: registers an app, or changes a registered one. */
import * as z from "zod/mini";
import { EXPIRY_OUTCOMES, OVERAGE_MAX_PERCENT, SETTLERS } from "../../../../domain/app_policy.ts";
import { parseAllowedOrigin } from "../../../../domain/origins.ts";
import { isPublicHttpsUrl } from "../../../../domain/public_url.ts";
import { CAP_PERIODS } from "../../../../domain/spending_cap.ts";
import {
  MAIL_DOMAIN_PATTERN,
  STARTER_EXCLUDED_DOMAINS_MAX,
} from "../../../../domain/starter_rule.ts";
import { saveApp } from "../../../../operator/save_app.ts";
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
import { respondOnce, timestamp } from "../../../views.ts";
import { actingOf, reason as reasonText, version } from "../audited_action.ts";

export type AppRecord = NonNullable<Awaited<ReturnType<Services["app_records"]["find"]>>>;

/** Longest name of an app, in UTF-16 code units. */
const APP_NAME_MAX_LENGTH = 200;

/** Origins registered for one app. Each cross-origin request is compared with all of them. */
const ORIGINS_PER_APP_MAX = 50;

/** Providers whose upstream tokens one app may get: more than any deployment configures. */
const UPSTREAM_PROVIDERS_PER_APP_MAX = 50;

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
  version,
  reason: z.optional(reasonText),
});

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

/** An app in the form of the API. */
export function appView({ created_at_ms, ...record }: AppRecord) {
  const { icon_hash: _, last_audit_id: __, ...app } = record;
  return { ...app, created_at: timestamp(created_at_ms) };
}

export const putApp = factory.createHandlers(validBody(saveAppBody), async (context) => {
  const slug = appSlug.safeParse(context.req.param("slug"));
  if (!slug.success) {
    const detail = `The app's slug ${slug.error.issues[0]?.message}.`;
    return refuse(context, { code: "invalid_request", detail });
  }
  const body = context.req.valid("json");
  const problem = await findOriginProblem(context, body);
  if (problem !== null) {
    const detail = `origins.${problem.index} ${problem.message}.`;
    return refuse(context, { code: "invalid_request", detail });
  }
  const { version: read_version, reason: given, ...settings } = body;
  const request = { version: read_version, reason: given, key: idempotencyKey(context) };
  const saved = await saveApp(await actingOf(context), slug.data, settings, request);
  return respondOnce(context, saved, ({ record }) => ({ app: appView(record) }));
});
