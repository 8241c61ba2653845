/**
 * Every rate limit, with its reason: the number of requests that one key may make in a window. `wrangler.toml`
 * gives the same numbers to the platform's limiters, which count in each location separately; a test compares
 * both. Passbook counts a request before it queries a store or fetches anything. A network is an IPv4 address
 * or the /64 of an IPv6 address, which belongs to one customer. Providers also assign whole /48s, with 65,536
 * such networks. `site` therefore limits the sum of a /48, at several times the limit of a network, because a
 * /48 may also be many customers of one mobile carrier.
 */

/** One limiter: its binding, and the number of requests in its window. */
export interface RateLimitRule<Binding extends string = string> {
  /** The name of its binding in `wrangler.toml`. */
  readonly binding: Binding;
  readonly count: number;
  /** 10 or 60: the platform supports no other window. */
  readonly window_seconds: 10 | 60;
}

/**
 * Whether a request passes if the limiter itself fails. Attempts at user codes do not: without a limit, a code of eight
 * letters could be guessed. Everything else stays available.
 */
export function passesWithoutLimiter({ binding }: RateLimitRule): boolean {
  return !GUESSABLE.includes(binding);
}

const GUESSABLE: readonly string[] = [
  "LIMIT_DEVICE_ATTEMPT",
  "LIMIT_DEVICE_NETWORK",
  "LIMIT_DEVICE_NETWORK_SITE",
];

/** The name of a rule in the headers `RateLimit` and `RateLimit-Policy`. */
export function policyName({ binding }: RateLimitRule): string {
  return binding.replace("LIMIT_", "").toLowerCase();
}

/** A limit of a network, and of the /48 that an IPv6 network is in. */
interface NetworkRateLimitRule {
  readonly network: RateLimitRule;
  readonly site: RateLimitRule;
}

const rule = <Binding extends string>(
  binding: Binding,
  count: number,
  window_seconds: RateLimitRule["window_seconds"],
): RateLimitRule<Binding> => ({ binding, count, window_seconds });

/** Limits of a person, a token, a login or a sign-in, from any network. */
export const RATE_LIMITS = {
  /**
   * All authenticated requests of one identity; of one token until it is found valid. An account's object
   * serves about a thousand requests a second, so 300 leave capacity for the holder's apps.
   */
  authenticated: rule("LIMIT_AUTHENTICATED", 3_000, 10),
  /**
   * The writes among them. A job's life is two writes: 300 jobs can be started and settled at once, and 30 a
   * second for any length of time, 2.6 million a day. Batches allow more.
   */
  writes: rule("LIMIT_WRITES", 600, 10),
  /**
   * Requests of one app's servers in one network, with an app key, over all accounts: a thousand a second. Its
   * writes in each account have the limit above, counted separately from the holder's.
   */
  app: rule("LIMIT_APP", 10_000, 10),
  /**
   * Lists of an app's jobs in all accounts. Each reads up to 8,000 stored jobs of the service, and the read model runs one
   * query at a time.
   */
  app_jobs: rule("LIMIT_APP_JOBS", 20, 60),
  /**
   * Changes of an app's settings by its own keys, such as its webhooks. Each adds rows to the directory, which people need to
   * sign in; a program changes settings when it is deployed.
   */
  app_settings: rule("LIMIT_APP_SETTINGS", 60, 60),
  /** Tests of one webhook: each is a request from our network to an address that an app chose. */
  webhook_test: rule("LIMIT_WEBHOOK_TEST", 6, 60),
  /** Checkouts of one identity. Each calls Stripe, which limits all our calls together to 100 a second. */
  checkout: rule("LIMIT_CHECKOUT", 10, 60),
  /**
   * Decisions of one person about OAuth clients and single jobs, and connections that they agreed to before. Each writes to
   * the account; a person decides a few in a minute, and another site can only make their browser repeat old ones.
   */
  consent: rule("LIMIT_CONSENT", 30, 60),
  /**
   * Attempts at a user code by one account, right or wrong. Opening a code and approving it are two attempts,
   * so a person may be wrong several times. A guesser has 10 of 25,600,000,000 codes a minute.
   */
  device_attempt: rule("LIMIT_DEVICE_ATTEMPT", 10, 60),
  /** Polls of one login. The shortest interval that the settings allow is a second; the default is 5. */
  device_poll: rule("LIMIT_DEVICE_POLL", 60, 60),
  /**
   * Documents of OAuth clients, and their keys, that are fetched for one person: each is a request from our network to an
   * address that a stranger chose. A person connects a few clients in a minute. An address that gave a valid document is not
   * counted, and nothing is counted for a host: a stranger's failures would block its real clients.
   */
  client_document: rule("LIMIT_CLIENT_DOCUMENT", 20, 60),
  /**
   * Requests of one token family at the token endpoint. Its client refreshes every nine minutes; sessions that share one
   * refresh token do so together.
   */
  token_family: rule("LIMIT_TOKEN_FAMILY", 60, 60),
  /** Provider responses for one sign-in, by its `state`: usually one, and a reload or two. */
  signin_answer: rule("LIMIT_SIGNIN_ANSWER", 5, 60),
} as const satisfies Readonly<Record<string, RateLimitRule>>;

/** Limits of a network, for requests that need no sign-in or come from many accounts. */
export const NETWORK_RATE_LIMITS = {
  /**
   * Lookups of session cookies in D1, also of invented cookies. The API needs one lookup per browser and
   * quarter of an hour, a page needs one each. An office of several thousand people stays below the limit.
   */
  session_lookup: {
    network: rule("LIMIT_SESSION_LOOKUP", 600, 60),
    site: rule("LIMIT_SESSION_LOOKUP_SITE", 2_400, 60),
  },
  /** Sign-ins started and completed, two requests each: 60 people of one office in a minute. */
  signin: {
    network: rule("LIMIT_SIGNIN", 120, 60),
    site: rule("LIMIT_SIGNIN_SITE", 480, 60),
  },
  /** Requests of OAuth clients to authorize or to sign out: two for each person who signs in first, so 30 people of one office. */
  authorize: {
    network: rule("LIMIT_AUTHORIZE", 60, 60),
    site: rule("LIMIT_AUTHORIZE_SITE", 240, 60),
  },
  /**
   * Accounts created with a passkey, and attempts at recovery codes. A script can create passkeys without end, and each
   * account may get starter credits; an office or a class needs few new accounts in one minute.
   */
  passkey_account: {
    network: rule("LIMIT_PASSKEY_ACCOUNT", 10, 60),
    site: rule("LIMIT_PASSKEY_ACCOUNT_SITE", 30, 60),
  },
  /**
   * People whom tokens of one trusted issuer make. A lost key of the issuer, or a service with open sign-up, makes people
   * without end, and each is a row in the directory.
   */
  issuer_person: {
    network: rule("LIMIT_ISSUER_PERSON", 30, 60),
    site: rule("LIMIT_ISSUER_PERSON_SITE", 120, 60),
  },
  /** Calls that are passed on to the social network. An app's server may make them for all its users. */
  social_me: {
    network: rule("LIMIT_SOCIAL_ME", 120, 60),
    site: rule("LIMIT_SOCIAL_ME_SITE", 480, 60),
  },
  /**
   * Device logins started. Each creates an object that exists for a day. The limit of a /48 is that of two
   * networks.
   */
  device_start: {
    network: rule("LIMIT_DEVICE_START", 60, 60),
    site: rule("LIMIT_DEVICE_START_SITE", 120, 60),
  },
  /**
   * Requests with unknown app keys. Such a key may be new, so it causes a read of the registry; while the registry
   * cannot be read, it may reach an account. A server with a revoked key tries once or twice; a guesser does not stop.
   */
  app_key_unknown: {
    network: rule("LIMIT_APP_KEY_UNKNOWN", 60, 60),
    site: rule("LIMIT_APP_KEY_UNKNOWN_SITE", 240, 60),
  },
  /**
   * Failed authentications of OAuth clients, and requests to OAuth endpoints that are refused before. A secret has 256 bits, so
   * this only limits the work and the log; a server with a revoked secret tries once for each of its users.
   */
  client_failure: {
    network: rule("LIMIT_CLIENT_FAILURE", 60, 60),
    site: rule("LIMIT_CLIENT_FAILURE_SITE", 240, 60),
  },
  /** The documents and keys of OAuth clients above, over all accounts of one network. */
  client_document: {
    network: rule("LIMIT_CLIENT_DOCUMENT_NETWORK", 60, 60),
    site: rule("LIMIT_CLIENT_DOCUMENT_SITE", 240, 60),
  },
  /** Attempts at user codes from one network, over all its accounts: an office shares one network. */
  device_attempt: {
    network: rule("LIMIT_DEVICE_NETWORK", 30, 60),
    site: rule("LIMIT_DEVICE_NETWORK_SITE", 120, 60),
  },
  /** Polls of genuine device codes, live or expired: a hundred devices at the default interval. */
  device_poll: {
    network: rule("LIMIT_DEVICE_POLL_NETWORK", 1_200, 60),
    site: rule("LIMIT_DEVICE_POLL_SITE", 4_800, 60),
  },
  /** Polls of codes that this service never issued. They cost a signature check and reach no object. */
  device_unknown: {
    network: rule("LIMIT_DEVICE_UNKNOWN", 60, 60),
    site: rule("LIMIT_DEVICE_UNKNOWN_SITE", 240, 60),
  },
} as const satisfies Readonly<Record<string, NetworkRateLimitRule>>;

export type RateLimitName = keyof typeof RATE_LIMITS;
export type NetworkRateLimitName = keyof typeof NETWORK_RATE_LIMITS;

/** The bindings of all limiters, which the Worker's environment must have. */
export type RateLimitBinding =
  | (typeof RATE_LIMITS)[RateLimitName]["binding"]
  | (typeof NETWORK_RATE_LIMITS)[NetworkRateLimitName]["network" | "site"]["binding"];

export const RATE_LIMIT_RULES: readonly RateLimitRule<RateLimitBinding>[] = [
  ...Object.values(RATE_LIMITS),
  ...Object.values(NETWORK_RATE_LIMITS).flatMap(({ network, site }) => [network, site]),
];

/**
 * How long an accepted token is assumed to be valid. A token's requests meanwhile count for its
 * identity, so all tokens of one person share one limit. A refused token is forgotten at once.
 */
export const LIVE_CREDENTIAL_MS = 60_000;

/** Tokens that one isolate remembers, at about 100 bytes each. A full memory is emptied. */
export const LIVE_CREDENTIALS_MAX = 10_000;
