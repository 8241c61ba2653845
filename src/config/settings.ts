/** The schema of the settings in the environment. Its messages name what is invalid. */
import * as z from "zod/mini";
import {
  ACCOUNT_FULL_BYTES,
  ACCOUNT_STORAGE_MIN_BYTES,
  ARCHIVE_AFTER_DAYS,
  ARCHIVE_MAX_AGE_DAYS,
  COST_MAX_CREDITS,
} from "../domain/limits.ts";
import { EXPIRES_AFTER_MAX_DAYS, LOT_APPS_MAX } from "../domain/lots.ts";
import { APP_SLUG_PATTERN } from "../domain/app_policy.ts";
import { findInvisible } from "../domain/text.ts";
import { contradict, parseOperator, type Operator } from "../domain/operators.ts";
import { isLoopbackHost, parseAllowedOrigin, type AllowedOrigin } from "../domain/origins.ts";
import { secureEndpoint, signInProviders, type OAuthProvider } from "../oauth/providers.ts";
import { matchProviders, trustedIssuers, type IssuerSettings } from "../oauth/trusted_issuers.ts";
import { encryption_keys, id_token_keys, signing_keys } from "./key_sets.ts";
import { addProblem } from "./problems.ts";
import { flag, json, list, origin, some_text, wholeNumber, wholeNumberBetween } from "./values.ts";

/** The most packages for sale: one page shows all of them. */
export const CREDIT_PACKAGES_MAX = 12;
const CREDIT_PACKAGE_NAME_MAX_LENGTH = 60;
const PRICE_TEXT_MAX_LENGTH = 40;

/** How many days a job stays in the read model, by default and at most. */
export const READ_MODEL_DEFAULT_DAYS = 90;
const READ_MODEL_MAX_DAYS = 3_650;

/** The longest lifetime of a template token, which cannot be revoked. */
const TEMPLATE_TOKEN_TTL_MAX_SECONDS = 24 * 60 * 60;

/** The lifetime of a device code: by default, and its bounds. */
export const DEVICE_CODE_TTL_DEFAULT_SECONDS = 15 * 60;
const DEVICE_CODE_TTL_MIN_SECONDS = 1;
const DEVICE_CODE_TTL_MAX_SECONDS = 60 * 60;

/** The time a device waits between polls. RFC 8628, section 3.5, makes 5 s the default. */
export const DEVICE_POLL_INTERVAL_DEFAULT_SECONDS = 5;
const DEVICE_POLL_INTERVAL_MIN_SECONDS = 1;
const DEVICE_POLL_INTERVAL_MAX_SECONDS = 60;

/** The lifetime of a personal access token in days (spec: about 90). */
export const PAT_TTL_DEFAULT_DAYS = 90;
const PAT_TTL_MAX_DAYS = 366;

/** The credits that an operator with the role support may adjust in a UTC day, by default. */
export const SUPPORT_CREDITS_DEFAULT_MAX = 1_000;

/** Longest name of the service on its pages, in UTF-16 code units. */
const SERVICE_NAME_MAX_LENGTH = 40;

const STRIPE_API = "https://api.stripe.com";
const CLOUDFLARE_API = "https://api.cloudflare.com";
const CLERK_API = "https://api.clerk.com";

/** Either all of these are set, or none. */
const PAYMENT_SETTINGS = ["CREDIT_PACKAGES", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"] as const;

/** The settings that the rules for `TRUSTED_ISSUERS` compare. */
const ISSUER_SETTINGS = ["TRUSTED_ISSUERS", "SIGNIN_PROVIDERS", "BASE_URL", "CLERK_SECRET_KEY"];

const NO_ALLOWED_ORIGIN =
  "must have a form such as https://app.example.com, https://*.example.com, myapp://callback or " +
  "http://localhost:3000; a wildcard must cover names of one owner only";

const allowlist = z.pipe(
  list,
  z.transform((entries, payload): readonly AllowedOrigin[] =>
    entries.flatMap((entry, index) => {
      const parsed = parseAllowedOrigin(entry);
      if (parsed !== null) return [parsed];
      addProblem(payload, NO_ALLOWED_ORIGIN, [index]);
      return [];
    }),
  ),
);

const OPERATOR_PROBLEMS = {
  unreadable:
    "is not an identity id, an address such as ada@example.com, or google:ada@example.com with the provider's id",
  unknown_role: "ends in an unknown role; write =viewer, =support or =admin, or no role for admin",
} as const;
const TWO_ROLES = "has another role than another entry with the same name; keep one of them";

const operators = z.pipe(
  list,
  z.transform((entries, payload): readonly Operator[] => {
    const parsed = entries.map(parseOperator);
    const named = parsed.flatMap((read) => (read.ok ? [read.value] : []));
    for (const [index, read] of parsed.entries()) {
      if (!read.ok) addProblem(payload, OPERATOR_PROBLEMS[read.refusal], [index]);
      else if (named.some((other) => contradict(other, read.value))) {
        addProblem(payload, TWO_ROLES, [index]);
      }
    }
    return named;
  }),
);

/** The ways to sign in that the setting `SIGNIN_METHODS` may name. */
const SIGNIN_METHODS = ["providers", "passkey"] as const;
type SignInMethodName = (typeof SIGNIN_METHODS)[number];

const signin_methods = z.pipe(
  list,
  z.transform((entries, payload): readonly SignInMethodName[] => {
    for (const [index, entry] of entries.entries()) {
      if (isSignInMethod(entry)) continue;
      addProblem(payload, `${JSON.stringify(entry)} is not one of ${SIGNIN_METHODS.join(", ")}`, [
        index,
      ]);
    }
    return entries.length === 0 ? ["providers"] : entries.filter(isSignInMethod);
  }),
);

function isSignInMethod(name: string): name is SignInMethodName {
  return (SIGNIN_METHODS as readonly string[]).includes(name);
}

const token_templates = z.record(
  z
    .string()
    .check(z.regex(/^[a-z0-9][a-z0-9_-]{0,63}$/i, "must have a name of a-z 0-9 _ -, at most 64")),
  z.strictObject({
    audience: some_text,
    ttl_seconds: z.int().check(z.gte(1), z.lte(TEMPLATE_TOKEN_TTL_MAX_SECONDS)),
    claims: z._default(z.record(z.string(), z.unknown()), {}),
    apps: z._default(
      z.array(z.string().check(z.regex(APP_SLUG_PATTERN, "must be an app's slug"))),
      [],
    ),
  }),
);

const shown_text = z.refine<string>(
  (text) => findInvisible(text) === null,
  "has an invisible character, such as U+202E",
);

const credit_package = z.strictObject({
  id: z.string().check(z.regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "must be 1 to 64 of a-z 0-9 _ -")),
  name: z
    .string()
    .check(z.trim(), z.minLength(1), z.maxLength(CREDIT_PACKAGE_NAME_MAX_LENGTH), shown_text),
  credits: z.int().check(z.gte(1), z.lte(COST_MAX_CREDITS)),
  price: z
    .string()
    .check(z.regex(/^price_\w{1,200}$/, "is not the id of a price, such as price_1Pq…")),
  price_text: z.optional(
    z.string().check(z.trim(), z.minLength(1), z.maxLength(PRICE_TEXT_MAX_LENGTH), shown_text),
  ),
  expires_after_days: z.optional(
    z
      .int()
      .check(z.gte(1), z.lte(EXPIRES_AFTER_MAX_DAYS, `is more than ${EXPIRES_AFTER_MAX_DAYS}`)),
  ),
  app_slugs: z.optional(
    z.pipe(
      z
        .array(z.string().check(z.regex(APP_SLUG_PATTERN, "is not an app's slug")))
        .check(z.minLength(1), z.maxLength(LOT_APPS_MAX)),
      z.transform((slugs) => [...new Set(slugs)].toSorted()),
    ),
  ),
});

const credit_packages = z
  .array(credit_package)
  .check(
    z.minLength(1),
    z.maxLength(CREDIT_PACKAGES_MAX, `has more than ${CREDIT_PACKAGES_MAX} packages`),
    differ("id"),
    differ("price"),
  );

/** A purchase must identify one package by this field. */
function differ(field: "id" | "price") {
  return z.refine<readonly z.infer<typeof credit_package>[]>(
    (packages) => new Set(packages.map((it) => it[field])).size === packages.length,
    { error: `has one ${field} twice` },
  );
}

/** The address of one vendor's API, which receives our key for it, or a stand-in on this machine. */
const vendorApi = (api: string) =>
  z._default(
    z.pipe(
      z.string(),
      z.transform((text, payload) => {
        const url = URL.parse(text);
        const own = url !== null && url.origin === text.replace(/\/$/, "");
        if (own && (url.origin === api || isLoopbackHost(url.hostname))) return url.origin;
        addProblem(
          payload,
          `must be ${api}, or an origin of this machine such as http://localhost:12111`,
        );
        return z.NEVER;
      }),
    ),
    api,
  );

/** A token that may read the account's analytics, and the dataset of the binding METRICS. */
export const metrics_reader = z.strictObject({
  account_id: z.string().check(z.regex(/^[0-9a-f]{32}$/, "is not the id of a Cloudflare account")),
  token: z.string().check(z.regex(/^[\w-]{20,200}$/, "is not an API token of Cloudflare's")),
  dataset: z._default(
    z.string().check(z.regex(/^[A-Za-z_]\w{0,63}$/, "is not the name of a dataset")),
    "passbook_requests",
  ),
  api_url: vendorApi(CLOUDFLARE_API),
});

/** Where people get help. Pages link to it, so it must not run anything. */
const support_address = z.pipe(
  z.string(),
  z.transform((text, payload) => {
    const url = URL.parse(text);
    const is_page = url?.protocol === "https:" && url.username === "" && url.password === "";
    const is_mail = /^mailto:[^\s@?,]+@[^\s@?,]+(\?subject=\S*)?$/.test(text);
    if (url !== null && (is_page || is_mail)) return url.href;
    addProblem(
      payload,
      "must be an https address such as https://example.com/help, or mailto:help@example.com",
    );
    return z.NEVER;
  }),
);

/** The fewest days that rows stay in the account's object, outside development. */
const archiveAfterLeast = ({ READ_MODEL_DAYS: days }: { readonly READ_MODEL_DAYS: number }) =>
  Math.max(days, 35);

export const variables = z
  .object({
    // An empty value counts as not set, so that .dev.vars can undo the production value of wrangler.toml.
    BASE_URL: z.pipe(
      z.transform((text) => (text === "" ? undefined : text)),
      z.optional(origin),
    ),
    COOKIE_DOMAIN: z.optional(
      z
        .string()
        .check(z.regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, "is not a domain such as example.com")),
    ),
    ALLOWED_ORIGINS: allowlist,
    SIGNING_KEYS: signing_keys,
    ID_TOKEN_KEYS: id_token_keys,
    DEFAULT_STARTER_CREDITS: z.optional(wholeNumberBetween(0, COST_MAX_CREDITS)),
    DEV_SIGNIN: flag,
    STRICT_APPS: flag,
    SIGNIN_METHODS: signin_methods,
    PASSKEY_STARTER_CREDITS: flag,
    SIGNIN_PROVIDERS: z._default(z.pipe(json, signInProviders), []),
    SOCIAL_PROVIDER: z.optional(some_text),
    SOCIAL_API_URL: z.optional(secureEndpoint),
    ENCRYPTION_KEYS: encryption_keys,
    SERVICE_NAME: z._default(
      z.string().check(z.trim(), z.minLength(1), z.maxLength(SERVICE_NAME_MAX_LENGTH), shown_text),
      "Passbook",
    ),
    SERVICE_ACCENT: z._default(
      z.string().check(z.regex(/^#[0-9a-f]{6}$/i, "is not a colour such as #12507b")),
      "#12507b",
    ),
    SUPPORT_URL: z.optional(support_address),
    TOKEN_TEMPLATES: z._default(z.pipe(json, token_templates), {}),
    DEVICE_CODE_TTL_SECONDS: wholeNumber(
      DEVICE_CODE_TTL_MIN_SECONDS,
      DEVICE_CODE_TTL_MAX_SECONDS,
      DEVICE_CODE_TTL_DEFAULT_SECONDS,
    ),
    DEVICE_POLL_INTERVAL_SECONDS: wholeNumber(
      DEVICE_POLL_INTERVAL_MIN_SECONDS,
      DEVICE_POLL_INTERVAL_MAX_SECONDS,
      DEVICE_POLL_INTERVAL_DEFAULT_SECONDS,
    ),
    PAT_TTL_DAYS: wholeNumber(1, PAT_TTL_MAX_DAYS, PAT_TTL_DEFAULT_DAYS),
    ARCHIVE_MAX_AGE_DAYS: wholeNumber(1, ARCHIVE_MAX_AGE_DAYS.longest, ARCHIVE_MAX_AGE_DAYS.usual),
    ARCHIVE_AFTER_DAYS: wholeNumber(0, ARCHIVE_AFTER_DAYS.longest, ARCHIVE_AFTER_DAYS.usual),
    ACCOUNT_STORAGE_BYTES: wholeNumber(
      ACCOUNT_STORAGE_MIN_BYTES,
      ACCOUNT_FULL_BYTES,
      ACCOUNT_FULL_BYTES,
    ),
    READ_MODEL_DAYS: wholeNumber(1, READ_MODEL_MAX_DAYS, READ_MODEL_DEFAULT_DAYS),
    OPERATORS: operators,
    SUPPORT_CREDITS_MAX: wholeNumber(0, COST_MAX_CREDITS, SUPPORT_CREDITS_DEFAULT_MAX),
    ALERT_WEBHOOK_URL: z.optional(secureEndpoint),
    METRICS_READER: z.optional(z.pipe(json, metrics_reader)),
    DAILY_SPEND_ALERT_CREDITS: z.optional(wholeNumberBetween(0, COST_MAX_CREDITS)),
    CREDIT_PACKAGES: z.optional(z.pipe(json, credit_packages)),
    STRIPE_SECRET_KEY: z.optional(
      z
        .string()
        .check(
          z.regex(
            /^(sk|rk)_(test|live)_\w+$/,
            "is not a secret key of Stripe's, such as sk_live_…",
          ),
        ),
    ),
    STRIPE_WEBHOOK_SECRET: z.optional(
      z
        .string()
        .check(z.regex(/^whsec_\S+$/, "is not a webhook's signing secret of Stripe's, whsec_…")),
    ),
    STRIPE_API_URL: vendorApi(STRIPE_API),
    TRUSTED_ISSUERS: z._default(z.pipe(json, trustedIssuers), []),
    CLERK_SECRET_KEY: z.optional(
      z
        .string()
        .check(z.regex(/^sk_(test|live)_\S+$/, "is not a secret key of Clerk's, sk_live_…")),
    ),
    CLERK_API_URL: vendorApi(CLERK_API),
  })
  .check(
    z.refine((settings) => settings.DEV_SIGNIN || settings.BASE_URL !== undefined, {
      path: ["BASE_URL"],
      message: "is required unless DEV_SIGNIN is true: the service's own address, https://…",
      when: validIn("BASE_URL", "DEV_SIGNIN"),
    }),
    z.refine(({ DEV_SIGNIN, BASE_URL }) => !DEV_SIGNIN || isLocal(BASE_URL), {
      path: ["DEV_SIGNIN"],
      message:
        "allows anyone to sign in: use it only without BASE_URL (in .dev.vars: an empty one) or with one of this machine",
      when: validIn("BASE_URL", "DEV_SIGNIN"),
    }),
    z.refine((settings) => settings.DEV_SIGNIN || settings.DEFAULT_STARTER_CREDITS === undefined, {
      path: ["DEFAULT_STARTER_CREDITS"],
      message:
        "is only for development, because any caller can invent slugs. Register the app instead",
    }),
    z.refine((it) => it.DEV_SIGNIN || it.ARCHIVE_AFTER_DAYS >= archiveAfterLeast(it), {
      path: ["ARCHIVE_AFTER_DAYS"],
      message:
        "must be at least READ_MODEL_DAYS, and at least 35: the read model and the pages of the present month need younger rows in the account",
      when: validIn("ARCHIVE_AFTER_DAYS", "READ_MODEL_DAYS", "DEV_SIGNIN"),
    }),
    z.refine(({ COOKIE_DOMAIN, BASE_URL }) => coversHost(COOKIE_DOMAIN, BASE_URL), {
      path: ["COOKIE_DOMAIN"],
      message: "is not the host of BASE_URL or a parent of it",
      when: validIn("BASE_URL", "COOKIE_DOMAIN"),
    }),
    z.superRefine(demandAllForPayments, { when: validIn(...PAYMENT_SETTINGS) }),
    z.superRefine(checkTrustedIssuers, { when: validIn(...ISSUER_SETTINGS) }),
  );

/** The validated settings. */
export type Settings = z.output<typeof variables>;

/** Reports which of the settings that need each other are missing. */
function demandAllForPayments(
  settings: Readonly<Partial<Record<(typeof PAYMENT_SETTINGS)[number], unknown>>>,
  context: { addIssue(issue: { code: "custom"; path: string[]; message: string }): void },
): void {
  const given = PAYMENT_SETTINGS.filter((name) => settings[name] !== undefined);
  if (given.length === 0) return;
  for (const name of PAYMENT_SETTINGS.filter((other) => !given.includes(other))) {
    const message = `is missing: ${given.join(" and ")} cannot take money without it`;
    context.addIssue({ code: "custom", path: [name], message });
  }
}

function checkTrustedIssuers(
  settings: {
    readonly TRUSTED_ISSUERS: readonly IssuerSettings[];
    readonly SIGNIN_PROVIDERS: readonly OAuthProvider[];
    readonly BASE_URL?: string | undefined;
    readonly CLERK_SECRET_KEY?: string | undefined;
  },
  context: { addIssue(issue: { code: "custom"; path: PropertyKey[]; message: string }): void },
): void {
  const { TRUSTED_ISSUERS: entries, SIGNIN_PROVIDERS, BASE_URL, CLERK_SECRET_KEY } = settings;
  const report = (message: string, ...path: PropertyKey[]): void =>
    context.addIssue({ code: "custom", path, message });
  for (const { path, problem } of matchProviders(entries, SIGNIN_PROVIDERS).unmatched) {
    report(problem, "TRUSTED_ISSUERS", ...path);
  }
  for (const [index, { issuer, upstream_tokens }] of entries.entries()) {
    // Tokens that this service signs for other services would count as sessions here.
    if (issuer.replace(/\/$/, "") === BASE_URL) {
      report("is this service itself", "TRUSTED_ISSUERS", index, "issuer");
    }
    if (upstream_tokens === "clerk" && CLERK_SECRET_KEY === undefined) {
      report('is missing: "upstream_tokens": "clerk" needs it', "CLERK_SECRET_KEY");
    }
  }
}

/**
 * Whether the settings that a rule compares are each valid. Problems of other settings do not hide the rule.
 */
function validIn(...names: readonly string[]) {
  return ({ issues }: z.core.ParsePayload): boolean =>
    !issues.some(({ path }) => names.includes(String(path?.[0])));
}

function isLocal(base_url: string | undefined): boolean {
  return base_url === undefined || isLoopbackHost(new URL(base_url).hostname);
}

/** Browsers ignore a cookie whose domain is not the host or a parent of it. */
function coversHost(domain: string | undefined, base_url: string | undefined): boolean {
  if (domain === undefined || base_url === undefined) return true;
  return `.${new URL(base_url).hostname}`.endsWith(`.${domain}`);
}
