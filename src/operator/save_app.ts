/** Registers an app, or changes it. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import type { AppRecord } from "../directory/app_records.ts";
import { APP_ICON_MAX_BYTES, type AppIconProblem } from "../domain/app_icon.ts";
import {
  DEFAULT_POLICY,
  EXPIRY_OUTCOMES,
  OVERAGE_MAX_PERCENT,
  SETTLERS,
} from "../domain/app_policy.ts";
import { parseAllowedOrigin } from "../domain/origins.ts";
import { isPublicHttpsUrl } from "../domain/public_url.ts";
import { accepted, refused } from "../domain/result.ts";
import { CAP_PERIODS } from "../domain/spending_cap.ts";
import { MAIL_DOMAIN_PATTERN, STARTER_EXCLUDED_DOMAINS_MAX } from "../domain/starter_rule.ts";
import { cost, expiresAfterDays, shownUpTo } from "../fields.ts";
import type { Acting, OperatorServices } from "./acting.ts";
import { reason } from "./audited_action.ts";
import {
  saveRecord,
  version,
  type FieldProblem,
  type Keyed,
  type RecordKind,
  type SavedRecord,
} from "./save_record.ts";

export type { AppRecord };

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

/** In a save, a setting that is optional here keeps its value if it is omitted. */
const fields = {
  name: shownUpTo(APP_NAME_MAX_LENGTH),
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
  starter_expires_after_days: z.optional(z.nullable(expiresAfterDays)),
  starter_only_here: z.optional(z.boolean("must be true or false")),
};

/** Strict, so that a misspelt setting is refused, not treated as omitted. */
export const saveAppBody = z.strictObject({ ...fields, version, reason: z.optional(reason) });

/** Some settings of a registered app. The others keep their values. */
export const changeAppBody = z
  .strictObject({
    ...z.partial(z.object(fields)).shape,
    version: z.int("must be the version that you read").check(z.gte(1, "must be at least 1")),
    reason: z.optional(reason),
  })
  .check(
    z.refine(
      (body) => Object.keys(body).some((name) => Object.hasOwn(fields, name)),
      "must name a setting to change",
    ),
  );

export type SaveApp = z.output<typeof saveAppBody>;
export type ChangeApp = z.output<typeof changeAppBody>;

/** A wildcard origin over a shared hosting suffix, where strangers can register names; null: all are acceptable. */
export async function findAppProblem(
  { keepOwned }: OperatorServices,
  { origins = [] }: Pick<ChangeApp, "origins">,
): Promise<FieldProblem | null> {
  const parsed = origins.map(parseAllowedOrigin);
  const owned = await keepOwned(parsed.filter((entry) => entry !== null));
  const index = parsed.findIndex((entry) => entry === null || !owned.includes(entry));
  return index < 0 ? null : { path: ["origins", index], message: INVALID_ORIGIN };
}

const DEFAULTS = {
  ...DEFAULT_POLICY,
  upstream_providers: [],
  icon: null,
  color: null,
  suggested_cap: null,
  starter_excluded_domains: [],
  starter_expires_after_days: null,
  starter_only_here: false,
};

const ICON_MESSAGES: Readonly<Record<AppIconProblem, string>> = {
  unreachable: "its server could not be reached. Check the address.",
  timeout: "its server took longer than 5 seconds. Try again, or use another address.",
  status: "its server did not respond with status 200. Use an address that needs no redirect.",
  too_large: `it is larger than ${APP_ICON_MAX_BYTES / 1024} KiB. Use a smaller picture, such as 128 by 128 pixels.`,
  not_a_picture: "it is not a PNG, JPEG, WebP or ICO picture. SVG is not accepted.",
};

/** Registers an app, or changes it. */
export function saveApp(
  acting: Acting,
  slug: string,
  body: Keyed<SaveApp> | Keyed<ChangeApp>,
): Promise<OnceAnswer<SavedRecord<AppRecord>>> {
  const { app_records, copyAppIcon } = acting.services;
  /** Undefined, as if omitted, if the app already has a copy from this address. */
  const copyIcon = async (before: AppRecord | null, url: SaveApp["icon"]) => {
    if (url === undefined || url === null) return accepted(url);
    if (before?.icon === url) return accepted(undefined);
    const copied = await copyAppIcon(url);
    if (copied.ok) return copied;
    const detail = `The icon could not be copied: ${ICON_MESSAGES[copied.refusal]}`;
    return refused({ code: "invalid_request", detail } as const);
  };
  const kind: RecordKind<Keyed<SaveApp> | Keyed<ChangeApp>, AppRecord> = {
    act: "app.save",
    subject: slug,
    details: {},
    not_found: { code: "app_not_found" },
    changed: { code: "app_changed" },
    find: () => app_records.find(slug),
    completed: (given) => ({ ...DEFAULTS, ...definedOf(given) }),
    settingsOf,
    async write({ icon: url, ...given }, { before, audit_id }) {
      const icon = await copyIcon(before, url);
      if (!icon.ok) return icon;
      // Complete: a change of some settings names a version, so it has a record before it.
      const settings = { ...DEFAULTS, ...(before && settingsOf(before)), ...definedOf(given) };
      const complete = { ...settings, icon: icon.value } as Parameters<typeof app_records.save>[1];
      const read = { version: before?.version ?? 0, audit_id };
      const app = await app_records.save(slug, complete, read);
      return accepted(app === null ? null : { record: app, secret: null });
    },
  };
  return saveRecord(acting, kind, body);
}

function settingsOf(app: AppRecord) {
  const { slug: _, icon_hash: __, created_at_ms: ___, ...rest } = app;
  const { version: ____, last_audit_id: _____, ...kept } = rest;
  const { paused_at_ms: ______, pause_message: _______, ...settings } = kept;
  return settings;
}

/** Without the members that are undefined, which would hide others. */
function definedOf<Settings extends object>(settings: Settings) {
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as {
    [Name in keyof Settings]: Exclude<Settings[Name], undefined>;
  };
}
