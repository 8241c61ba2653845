/** All settings, read once from the environment by one schema that refuses nonsense by name. */
import * as z from "zod";
import {
  COST_MAX_CREDITS,
  CREDIT_PACKAGE_NAME_MAX_LENGTH,
  CREDIT_PACKAGES_MAX,
  DEVELOPMENT_STARTER_CREDITS,
  DEVICE_CODE_TTL_DEFAULT_SECONDS,
  DEVICE_CODE_TTL_MAX_SECONDS,
  DEVICE_CODE_TTL_MIN_SECONDS,
  DEVICE_POLL_INTERVAL_DEFAULT_SECONDS,
  DEVICE_POLL_INTERVAL_MAX_SECONDS,
  DEVICE_POLL_INTERVAL_MIN_SECONDS,
  PAT_TTL_DEFAULT_DAYS,
  PAT_TTL_MAX_DAYS,
  READ_MODEL_DEFAULT_DAYS,
  READ_MODEL_MAX_DAYS,
  SERVICE_NAME_MAX_LENGTH,
  TEMPLATE_TOKEN_TTL_MAX_SECONDS,
} from "./domain/limits.ts";
import { isLoopbackHost, parseAllowedOrigin, type AllowedOrigin } from "./domain/origins.ts";
import type { CreditPackage } from "./domain/purchases.ts";
import { accepted, refused, type Result } from "./domain/result.ts";
import { secureEndpoint, signInProviders, type OAuthProvider } from "./oauth/providers.ts";
import {
  describeIssue,
  findMistakenNames,
  readProblems,
  type MistakenName,
  type SettingProblem,
} from "./setting_problems.ts";

/** Where Stripe's API is. */
const STRIPE_API = "https://api.stripe.com";

/** Set together, or none of them. */
const PAYMENT_SETTINGS = ["CREDIT_PACKAGES", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"] as const;

const flag = z
  .enum(["true", "false"])
  .default("false")
  .transform((text) => text === "true");

const wholeNumberBetween = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d+$/, "is not a whole number")
    .transform(Number)
    .pipe(z.number().min(minimum).max(maximum));

const wholeNumber = (minimum: number, maximum: number, fallback: number) =>
  wholeNumberBetween(minimum, maximum).default(fallback);

const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue("is not JSON");
    return z.NEVER;
  }
});

const origin = z.string().transform((text, context) => {
  const url = URL.parse(text);
  const local = url?.protocol === "http:" && isLoopbackHost(url.hostname);
  const secure = url?.protocol === "https:" || local;
  if (url !== null && secure && url.origin === text.replace(/\/$/, "")) return url.origin;
  context.addIssue("is not an origin such as https://passbook.example.com");
  return z.NEVER;
});

const NO_ALLOWED_ORIGIN =
  "is none of the forms https://app.example.com, https://*.example.com, myapp://callback, " +
  "http://localhost:3000; a wildcard must be over names of one owner";

const allowlist = z
  .string()
  .default("")
  .transform((text, context): readonly AllowedOrigin[] =>
    text
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "")
      .flatMap((entry, place) => {
        const parsed = parseAllowedOrigin(entry);
        if (parsed !== null) return [parsed];
        context.addIssue({ code: "custom", path: [place], message: NO_ALLOWED_ORIGIN });
        return [];
      }),
  );

const operators = z
  .string()
  .default("")
  .transform((text, context): readonly string[] =>
    text
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "")
      .map((entry) => {
        if (/\s/.test(entry))
          context.addIssue("has an entry that is no identity id or e-mail address");
        return entry.includes("@") ? entry.toLowerCase() : entry;
      }),
  );

/** 256 bits in base64url (RFC 7518, section 6.4.1; RFC 8037, section 2). */
const bits_256 = z.string().regex(/^[A-Za-z0-9_-]{43}$/, "is not 256 bits");

/** A set of keys; a key is found by its id, so no two may have the same. */
const keySet = <Key extends z.ZodType<{ readonly kid: string }>>(key: Key) =>
  json.pipe(
    z.object({
      keys: z
        .array(key)
        .min(1)
        .refine((keys) => new Set(keys.map(({ kid }) => kid)).size === keys.length, {
          error: "has one kid twice",
        }),
    }),
  );

const signing_key = z.object({
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  kid: z.string().min(1),
  x: bits_256,
  d: bits_256,
});

const encryption_key = z.object({
  kty: z.literal("oct"),
  kid: z.string().min(1),
  k: bits_256,
});

const token_templates = z.record(
  z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/i, "must have a name of a-z 0-9 _ -, at most 64"),
  z.strictObject({
    audience: z.string().min(1),
    ttl_seconds: z.int().min(1).max(TEMPLATE_TOKEN_TTL_MAX_SECONDS),
    claims: z.record(z.string(), z.json()).default({}),
  }),
);

const credit_package = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "must be 1 to 64 of a-z 0-9 _ -"),
  name: z.string().trim().min(1).max(CREDIT_PACKAGE_NAME_MAX_LENGTH),
  credits: z.int().min(1).max(COST_MAX_CREDITS),
  price: z.string().regex(/^price_\w{1,200}$/, "is not the id of a price, such as price_1Pq…"),
});

const credit_packages = z
  .array(credit_package)
  .min(1)
  .max(CREDIT_PACKAGES_MAX, `has more than ${CREDIT_PACKAGES_MAX} packages`)
  .refine(...differ("id"))
  .refine(...differ("price"));

/** What a purchase is known by must name one package. */
function differ(field: "id" | "price") {
  type Packages = readonly z.infer<typeof credit_package>[];
  const areDifferent = (packages: Packages): boolean =>
    new Set(packages.map((it) => it[field])).size === packages.length;
  return [areDifferent, { error: `has one ${field} twice` }] as const;
}

/** Whoever is asked here says what was paid: Stripe, or on this machine a stand-in for it. */
const stripe_api = z.string().transform((text, context) => {
  const url = URL.parse(text);
  const own = url !== null && url.origin === text.replace(/\/$/, "");
  if (own && (url.origin === STRIPE_API || isLoopbackHost(url.hostname))) return url.origin;
  context.addIssue(
    `must be ${STRIPE_API}, or an origin of this machine such as http://localhost:12111`,
  );
  return z.NEVER;
});

const variables = z
  .object({
    // Empty as if not set: a developer's .dev.vars takes back what wrangler.toml says of production.
    BASE_URL: z.preprocess((text) => (text === "" ? undefined : text), origin.optional()),
    COOKIE_DOMAIN: z
      .string()
      .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, "is not a domain such as example.com")
      .optional(),
    ALLOWED_ORIGINS: allowlist,
    SIGNING_KEYS: keySet(signing_key),
    DEFAULT_STARTER_CREDITS: wholeNumberBetween(0, COST_MAX_CREDITS).optional(),
    DEV_SIGNIN: flag,
    IDENTITY_PROVIDER: z.enum(["builtin"]).default("builtin"),
    SIGNIN_PROVIDERS: json.pipe(signInProviders).default([]),
    SOCIAL_PROVIDER: z.string().min(1).optional(),
    SOCIAL_API_URL: secureEndpoint.optional(),
    ENCRYPTION_KEYS: keySet(encryption_key),
    SERVICE_NAME: z.string().trim().min(1).max(SERVICE_NAME_MAX_LENGTH).default("Passbook"),
    SERVICE_ACCENT: z
      .string()
      .regex(/^#[0-9a-f]{6}$/i, "is not a colour such as #12507b")
      .default("#12507b"),
    TOKEN_TEMPLATES: json.pipe(token_templates).default({}),
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
    READ_MODEL_DAYS: wholeNumber(1, READ_MODEL_MAX_DAYS, READ_MODEL_DEFAULT_DAYS),
    OPERATORS: operators,
    CREDIT_PACKAGES: json.pipe(credit_packages).optional(),
    STRIPE_SECRET_KEY: z
      .string()
      .regex(/^(sk|rk)_(test|live)_\w+$/, "is not a secret key of Stripe's, such as sk_live_…")
      .optional(),
    STRIPE_WEBHOOK_SECRET: z
      .string()
      .regex(/^whsec_\S+$/, "is not a webhook's signing secret of Stripe's, whsec_…")
      .optional(),
    STRIPE_API_URL: stripe_api.default(STRIPE_API),
  })
  .refine((settings) => settings.DEV_SIGNIN || settings.BASE_URL !== undefined, {
    path: ["BASE_URL"],
    message: "is required outside development: the service's own address, https://…",
    when: saneIn("BASE_URL", "DEV_SIGNIN"),
  })
  .refine(({ DEV_SIGNIN, BASE_URL }) => !DEV_SIGNIN || isLocal(BASE_URL), {
    path: ["DEV_SIGNIN"],
    message:
      "lets anyone in: only with no BASE_URL (in .dev.vars: an empty one), or one of this machine",
    when: saneIn("BASE_URL", "DEV_SIGNIN"),
  })
  .refine((settings) => settings.DEV_SIGNIN || settings.DEFAULT_STARTER_CREDITS === undefined, {
    path: ["DEFAULT_STARTER_CREDITS"],
    message: "is for development: inventing slugs must mint nothing. Register the app instead",
  })
  .refine(({ COOKIE_DOMAIN, BASE_URL }) => coversHost(COOKIE_DOMAIN, BASE_URL), {
    path: ["COOKIE_DOMAIN"],
    message: "is not the host of BASE_URL or a parent of it",
    when: saneIn("BASE_URL", "COOKIE_DOMAIN"),
  })
  .superRefine(demandAllForPayments, { when: saneIn(...PAYMENT_SETTINGS) });

/** Says which of the settings that only work together are missing. */
function demandAllForPayments(
  settings: Readonly<Partial<Record<(typeof PAYMENT_SETTINGS)[number], unknown>>>,
  context: { addIssue(issue: { code: "custom"; path: string[]; message: string }): void },
): void {
  const given = PAYMENT_SETTINGS.filter((name) => settings[name] !== undefined);
  if (given.length === 0) return;
  for (const name of PAYMENT_SETTINGS.filter((other) => !given.includes(other))) {
    const message = `is missing, and ${given.join(" and ")} alone cannot take money`;
    context.addIssue({ code: "custom", path: [name], message });
  }
}

/** Whether settings that a rule compares are sane each; what is wrong elsewhere hides no rule. */
function saneIn(...names: readonly string[]) {
  return ({ issues }: z.core.ParsePayload): boolean =>
    !issues.some(({ path }) => names.includes(String(path?.[0])));
}

function isLocal(base_url: string | undefined): boolean {
  return base_url === undefined || isLoopbackHost(new URL(base_url).hostname);
}

/** Browsers drop a cookie whose domain is not the host's own or above it. */
function coversHost(domain: string | undefined, base_url: string | undefined): boolean {
  if (domain === undefined || base_url === undefined) return true;
  return `.${new URL(base_url).hostname}`.endsWith(`.${domain}`);
}

/** The settings, checked. Lower-case names of the variables, units as they say. */
export interface Config {
  /** Null only in development: then the request's own origin stands for it. */
  readonly base_url: string | null;
  readonly identity_provider: "builtin";
  readonly cookie_domain: string | null;
  readonly allowed_origins: readonly AllowedOrigin[];
  /** Private Ed25519 keys: the first signs, all verify. */
  readonly signing_keys: readonly z.infer<typeof signing_key>[];
  /** Of a slug nobody registered; 0 outside development. */
  readonly default_starter_credits: number;
  readonly dev_signin: boolean;
  readonly signin_providers: readonly OAuthProvider[];
  /** The provider whose token `/api/socialToken` hands out; null: none is. */
  readonly social_provider: string | null;
  /** What `/api/socialMe` calls; null: nothing. */
  readonly social_api_url: string | null;
  /** 256-bit keys for data at rest: the first encrypts, all decrypt. */
  readonly encryption_keys: readonly z.infer<typeof encryption_key>[];
  readonly token_templates: Readonly<Record<string, TokenTemplate>>;
  /** What pages call the service, and its one colour as `#rrggbb`. */
  readonly service_name: string;
  readonly service_accent: string;
  readonly device_code_ttl_seconds: number;
  readonly device_poll_interval_seconds: number;
  readonly pat_ttl_days: number;
  /** How long a job stays in the read model after its creation. */
  readonly read_model_days: number;
  /** Null: nothing is sold. */
  readonly payments: PaymentSettings | null;
  /** Identity ids and lower-case e-mail addresses of the people who operate the service. */
  readonly operators: readonly string[];
}

/** What is sold, and the Stripe account that takes the money. */
export interface PaymentSettings {
  readonly packages: readonly CreditPackage[];
  readonly secret_key: string;
  readonly webhook_secret: string;
  readonly api_url: string;
}

/** A kind of token for another service: who it is for, how long it lives, what it says beside. */
export type TokenTemplate = z.infer<typeof token_templates>[string];

/** Everything that is wrong, not only the first thing. */
export interface Misconfiguration {
  readonly problems: readonly SettingProblem[];
}

/** Reads the settings from the Worker's environment. */
export function readConfig(environment: object): Result<Config, Misconfiguration> {
  const parsed = variables.safeParse(environment, { error: describeIssue });
  if (!parsed.success) return refused({ problems: readProblems(parsed.error) });
  const settings = parsed.data;
  return accepted({
    base_url: settings.BASE_URL ?? null,
    identity_provider: settings.IDENTITY_PROVIDER,
    cookie_domain: settings.COOKIE_DOMAIN ?? null,
    allowed_origins: settings.ALLOWED_ORIGINS,
    signing_keys: settings.SIGNING_KEYS.keys,
    default_starter_credits:
      settings.DEFAULT_STARTER_CREDITS ?? (settings.DEV_SIGNIN ? DEVELOPMENT_STARTER_CREDITS : 0),
    dev_signin: settings.DEV_SIGNIN,
    signin_providers: settings.SIGNIN_PROVIDERS,
    social_provider: settings.SOCIAL_PROVIDER ?? null,
    social_api_url: settings.SOCIAL_API_URL ?? null,
    encryption_keys: settings.ENCRYPTION_KEYS.keys,
    token_templates: settings.TOKEN_TEMPLATES,
    service_name: settings.SERVICE_NAME,
    service_accent: settings.SERVICE_ACCENT.toLowerCase(),
    device_code_ttl_seconds: settings.DEVICE_CODE_TTL_SECONDS,
    device_poll_interval_seconds: settings.DEVICE_POLL_INTERVAL_SECONDS,
    pat_ttl_days: settings.PAT_TTL_DAYS,
    read_model_days: settings.READ_MODEL_DAYS,
    operators: settings.OPERATORS,
    payments: paymentsOf(settings),
  });
}

function paymentsOf(settings: z.output<typeof variables>): PaymentSettings | null {
  const { CREDIT_PACKAGES, STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_API_URL } = settings;
  if (CREDIT_PACKAGES === undefined) return null;
  if (STRIPE_SECRET_KEY === undefined || STRIPE_WEBHOOK_SECRET === undefined) return null;
  return {
    packages: CREDIT_PACKAGES,
    secret_key: STRIPE_SECRET_KEY,
    webhook_secret: STRIPE_WEBHOOK_SECRET,
    api_url: STRIPE_API_URL,
  };
}

/** Names in an environment that no setting has, but that look like one. */
export function mistakenSettings(environment: object): readonly MistakenName[] {
  return findMistakenNames(Object.keys(environment), Object.keys(variables.shape));
}
