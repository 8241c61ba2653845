/** The settings in the form that the service uses, read once from the environment. */
import { DEVELOPMENT_STARTER_CREDITS } from "../domain/limits.ts";
import { whyUnmatchable, type Operator, type SignInOptions } from "../domain/operators.ts";
import type { AllowedOrigin } from "../domain/origins.ts";
import type { CreditPackage } from "../domain/purchases.ts";
import type { TrustedIssuer } from "../domain/trusted_issuer.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { MetricsAccess } from "../domain/request_metrics.ts";
import type { OAuthProvider } from "../oauth/providers.ts";
import { matchProviders } from "../oauth/trusted_issuers.ts";
import {
  describeIssue,
  findMistakenNames,
  readProblems,
  type MistakenName,
  type SettingProblem,
} from "./problems.ts";
import { variables, type Settings } from "./settings.ts";

/** The validated settings, with the names of their variables in lower case. */
export interface Config {
  /** Null only in development: the origin of the request applies. */
  readonly base_url: string | null;
  readonly cookie_domain: string | null;
  readonly allowed_origins: readonly AllowedOrigin[];
  /** Private Ed25519 keys: the first one signs, all verify. */
  readonly signing_keys: readonly Settings["SIGNING_KEYS"]["keys"][number][];
  /** Private RSA keys: the first one signs ID tokens. */
  readonly id_token_keys: readonly Settings["ID_TOKEN_KEYS"]["keys"][number][];
  /** The starter credits of unregistered apps; 0 in production. */
  readonly default_starter_credits: number;
  readonly dev_signin: boolean;
  /** Whether apps that nobody registered are refused. */
  readonly strict_apps: boolean;
  /** Whether people may sign in with providers, and with passkeys. */
  readonly provider_signin: boolean;
  readonly passkey_signin: boolean;
  /** Whether accounts that were created with a passkey get starter credits. */
  readonly passkey_starters: boolean;
  readonly signin_providers: readonly OAuthProvider[];
  /** Issuers whose tokens are accepted as sessions of apps. */
  readonly trusted_issuers: readonly TrustedIssuer[];
  /** Clerk's API and our key for it; null: no upstream tokens are there. */
  readonly clerk: { readonly secret_key: string; readonly api_url: string } | null;
  /** The provider whose upstream token `/api/socialToken` returns; null: none. */
  readonly social_provider: string | null;
  /** The address that `/api/socialMe` calls; null: none. */
  readonly social_api_url: string | null;
  /** 256-bit keys for stored data: the first one encrypts, all decrypt. */
  readonly encryption_keys: readonly Settings["ENCRYPTION_KEYS"]["keys"][number][];
  readonly token_templates: Readonly<Record<string, TokenTemplate>>;
  /** The name and colour (`#rrggbb`) of the service on its pages. */
  readonly service_name: string;
  readonly service_accent: string;
  /** Where people get help: an https or mailto address. Null: nowhere. */
  readonly support_url: string | null;
  readonly device_code_ttl_seconds: number;
  readonly device_poll_interval_seconds: number;
  readonly pat_ttl_days: number;
  /** How long a job stays in the read model after its creation. */
  /** How many days an entry may wait for the archive. */
  readonly archive_max_age_days: number;
  readonly read_model_days: number;
  /** How the metrics of requests are read; null: they are not. A secret. */
  readonly metrics: MetricsAccess | null;
  /** Where warnings are sent. A secret: the address contains a token. Null: nowhere. */
  readonly alert_webhook_url: string | null;
  /** The settled credits of a UTC day above which operators are warned; null: no limit. */
  readonly daily_spend_alert_credits: number | null;
  /** Null: nothing is sold. */
  readonly payments: PaymentSettings | null;
  /** The operators, and the ways to sign in that verify their addresses. */
  readonly operators: readonly Operator[];
  readonly signin_options: SignInOptions;
  /** The most credits that the adjustments of an operator with the role support add up to, per UTC day. */
  readonly support_credits_max: number;
}

/** The packages for sale, and the Stripe account. */
interface PaymentSettings {
  readonly packages: readonly CreditPackage[];
  readonly secret_key: string;
  readonly webhook_secret: string;
  readonly api_url: string;
}

/** A token for another service: audience, lifetime and further claims. */
type TokenTemplate = Settings["TOKEN_TEMPLATES"][string];

/** All problems, not only the first one. */
export interface Misconfiguration {
  readonly problems: readonly SettingProblem[];
}

/** Reads the settings from the Worker's environment. */
export function readConfig(environment: object): Result<Config, Misconfiguration> {
  const parsed = variables.safeParse(environment, { error: describeIssue });
  if (!parsed.success) return refused({ problems: readProblems(parsed.error) });
  const settings = parsed.data;
  const provider_signin = settings.SIGNIN_METHODS.includes("providers");
  return accepted({
    base_url: settings.BASE_URL ?? null,
    cookie_domain: settings.COOKIE_DOMAIN ?? null,
    allowed_origins: settings.ALLOWED_ORIGINS,
    signing_keys: settings.SIGNING_KEYS.keys,
    id_token_keys: settings.ID_TOKEN_KEYS.keys,
    default_starter_credits:
      settings.DEFAULT_STARTER_CREDITS ?? (settings.DEV_SIGNIN ? DEVELOPMENT_STARTER_CREDITS : 0),
    dev_signin: settings.DEV_SIGNIN,
    strict_apps: settings.STRICT_APPS,
    provider_signin,
    passkey_signin: settings.SIGNIN_METHODS.includes("passkey"),
    passkey_starters: settings.PASSKEY_STARTER_CREDITS,
    signin_providers: settings.SIGNIN_PROVIDERS,
    trusted_issuers: matchProviders(settings.TRUSTED_ISSUERS, settings.SIGNIN_PROVIDERS).issuers,
    clerk:
      settings.CLERK_SECRET_KEY === undefined
        ? null
        : { secret_key: settings.CLERK_SECRET_KEY, api_url: settings.CLERK_API_URL },
    social_provider: settings.SOCIAL_PROVIDER ?? null,
    social_api_url: settings.SOCIAL_API_URL ?? null,
    encryption_keys: settings.ENCRYPTION_KEYS.keys,
    token_templates: settings.TOKEN_TEMPLATES,
    service_name: settings.SERVICE_NAME,
    service_accent: settings.SERVICE_ACCENT.toLowerCase(),
    support_url: settings.SUPPORT_URL ?? null,
    device_code_ttl_seconds: settings.DEVICE_CODE_TTL_SECONDS,
    device_poll_interval_seconds: settings.DEVICE_POLL_INTERVAL_SECONDS,
    pat_ttl_days: settings.PAT_TTL_DAYS,
    archive_max_age_days: settings.ARCHIVE_MAX_AGE_DAYS,
    read_model_days: settings.READ_MODEL_DAYS,
    operators: settings.OPERATORS,
    support_credits_max: settings.SUPPORT_CREDITS_MAX,
    alert_webhook_url: settings.ALERT_WEBHOOK_URL ?? null,
    metrics: settings.METRICS_READER ?? null,
    daily_spend_alert_credits: settings.DAILY_SPEND_ALERT_CREDITS ?? null,
    signin_options: {
      provider_ids: provider_signin ? settings.SIGNIN_PROVIDERS.map(({ id }) => id) : [],
      dev_signin: settings.DEV_SIGNIN,
    },
    payments: paymentsOf(settings),
  });
}

function paymentsOf(settings: Settings): PaymentSettings | null {
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

/** Entries of `OPERATORS`, counted from 1, that match nobody with these ways to sign in. */
export function ignoredOperators({
  operators,
  signin_options,
}: Config): readonly { readonly entry: number; readonly remedy: string }[] {
  return operators.flatMap((operator, index) => {
    const remedy = whyUnmatchable(operator, signin_options);
    return remedy === null ? [] : [{ entry: index + 1, remedy }];
  });
}

/** Trusted issuers that accept tokens, but whose people cannot sign in on our pages, or that accept too many tokens. */
export function incompleteIssuers({ trusted_issuers }: Config): readonly {
  readonly issuer: string;
  readonly problem: string;
  readonly remedy: string;
}[] {
  return trusted_issuers
    .filter(({ has_signin_provider }) => !has_signin_provider)
    .map(({ issuer }) => ({
      issuer,
      problem: "Its people cannot sign in on the pages of this service.",
      remedy: "Add a provider with this issuer to SIGNIN_PROVIDERS.",
    }));
}

/** Variables in an environment that are not settings but look like one. */
export function mistakenSettings(environment: object): readonly MistakenName[] {
  return findMistakenNames(Object.keys(environment), settingNames());
}

/** The names of all settings. */
export function settingNames(): readonly string[] {
  return Object.keys(variables.shape);
}
