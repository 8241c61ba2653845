/**
 * Every rate limit, with its reason: how many requests one key may make in a window. `wrangler.toml`
 * gives the same numbers to the platform's limiters, which count in each of its locations by itself; a
 * test holds the two together. All are counted before any store is asked or anything is fetched.
 *
 * A network is an IPv4 address or the /64 of an IPv6 address, which one customer has alone. Providers
 * hand out whole /48s too, of 65,536 such networks, so `site` bounds what a /48 adds up to: several
 * times a network's share, since a /48 may also be many customers of one mobile carrier.
 */

/** One limiter: its binding, and how much fits into its window. */
export interface RateLimitRule<Binding extends string = string> {
  /** The name of its binding in `wrangler.toml`. */
  readonly binding: Binding;
  readonly count: number;
  /** 10 or 60: the platform knows no other. */
  readonly window_seconds: 10 | 60;
}

/** What clients know a rule by, in the headers `RateLimit` and `RateLimit-Policy`. */
export function policyName({ binding }: RateLimitRule): string {
  return binding.replace("LIMIT_", "").toLowerCase();
}

/** A limit of a network, and of the /48 that an IPv6 network is in. */
export interface NetworkRateLimitRule {
  readonly network: RateLimitRule;
  readonly site: RateLimitRule;
}

const rule = <Binding extends string>(
  binding: Binding,
  count: number,
  window_seconds: RateLimitRule["window_seconds"],
): RateLimitRule<Binding> => ({ binding, count, window_seconds });

/** Limits of a person, a token, a login or a sign-in, wherever the requests come from. */
export const RATE_LIMITS = {
  /**
   * Everything authenticated, of one identity; of one token until that is known to live. An account's
   * object answers about a thousand requests a second, so 300 leave it room for its owner's apps.
   */
  authenticated: rule("LIMIT_AUTHENTICATED", 3_000, 10),
  /**
   * Writes among them. A job's life is two: three hundred jobs started and settled at the same moment
   * fit, and 30 job lives a second for ever, 2.6 million a day. More belongs into batches.
   */
  writes: rule("LIMIT_WRITES", 600, 10),
  /**
   * Requests of one app's servers in one network, by the app's key, over all its users' accounts: a
   * thousand a second. Its writes in each of them have the limit above, apart from the holder's own.
   */
  app: rule("LIMIT_APP", 10_000, 10),
  /**
   * Checkouts opened by one identity. Each asks Stripe, which counts all of ours together: 100 a second.
   * A person opens one, thinks again, and opens another.
   */
  checkout: rule("LIMIT_CHECKOUT", 10, 60),
  /**
   * Attempts at a user code of one account, right or wrong. Opening a code and approving it are two, so
   * a person may be wrong several times; a guesser has 10 of 25,600,000,000 codes a minute.
   */
  device_attempt: rule("LIMIT_DEVICE_ATTEMPT", 10, 60),
  /** Polls of one login: the shortest interval that the settings allow is a second, the usual one 5. */
  device_poll: rule("LIMIT_DEVICE_POLL", 60, 60),
  /** Answers to one sign-in, by its `state`: one is usual, a reload or two happen. */
  signin_answer: rule("LIMIT_SIGNIN_ANSWER", 5, 60),
} as const satisfies Readonly<Record<string, RateLimitRule>>;

/** Limits of a network, where nobody need be signed in, or where many accounts stand behind one. */
export const NETWORK_RATE_LIMITS = {
  /**
   * Session cookies looked up in D1, also invented ones. The API needs one look a quarter hour and
   * browser, pages one each: an office of several thousand people stays below.
   */
  session_lookup: {
    network: rule("LIMIT_SESSION_LOOKUP", 600, 60),
    site: rule("LIMIT_SESSION_LOOKUP_SITE", 2_400, 60),
  },
  /** Sign-ins started and answered, two requests each: 60 people of one office a minute. */
  signin: {
    network: rule("LIMIT_SIGNIN", 120, 60),
    site: rule("LIMIT_SIGNIN_SITE", 480, 60),
  },
  /** Calls passed on to the social network; an app's server makes them for all its users. */
  social_me: {
    network: rule("LIMIT_SOCIAL_ME", 120, 60),
    site: rule("LIMIT_SOCIAL_ME_SITE", 480, 60),
  },
  /** Device logins started. Each makes an object that lives a day: a /48 has room for two networks. */
  device_start: {
    network: rule("LIMIT_DEVICE_START", 60, 60),
    site: rule("LIMIT_DEVICE_START_SITE", 120, 60),
  },
  /**
   * App keys that no app has. One may be too new to be known here, and is worth a look at the registry;
   * a server that was not told of its key's end asks once or twice, a guesser for ever.
   */
  app_key_unknown: {
    network: rule("LIMIT_APP_KEY_UNKNOWN", 60, 60),
    site: rule("LIMIT_APP_KEY_UNKNOWN_SITE", 240, 60),
  },
  /** Attempts at user codes from one network, over all its accounts: an office shares one. */
  device_attempt: {
    network: rule("LIMIT_DEVICE_NETWORK", 30, 60),
    site: rule("LIMIT_DEVICE_NETWORK_SITE", 120, 60),
  },
  /** Polls of genuine device codes, living or forgotten: a hundred devices at the usual interval. */
  device_poll: {
    network: rule("LIMIT_DEVICE_POLL_NETWORK", 1_200, 60),
    site: rule("LIMIT_DEVICE_POLL_SITE", 4_800, 60),
  },
  /** Polls of codes that this service never issued. They reach no object; they cost a check. */
  device_unknown: {
    network: rule("LIMIT_DEVICE_UNKNOWN", 60, 60),
    site: rule("LIMIT_DEVICE_UNKNOWN_SITE", 240, 60),
  },
} as const satisfies Readonly<Record<string, NetworkRateLimitRule>>;

export type RateLimitName = keyof typeof RATE_LIMITS;
export type NetworkRateLimitName = keyof typeof NETWORK_RATE_LIMITS;

/** A limiter that the rules name; the Worker's environment has each of them. */
export type RateLimitBinding =
  | (typeof RATE_LIMITS)[RateLimitName]["binding"]
  | (typeof NETWORK_RATE_LIMITS)[NetworkRateLimitName]["network" | "site"]["binding"];

/** Every limiter's rule. */
export const RATE_LIMIT_RULES: readonly RateLimitRule<RateLimitBinding>[] = [
  ...Object.values(RATE_LIMITS),
  ...Object.values(NETWORK_RATE_LIMITS).flatMap(({ network, site }) => [network, site]),
];

/**
 * How long a token that was let in is taken to live, so that its requests count for its identity: all
 * tokens of one person share one room. One that is refused is forgotten at once.
 */
export const PERSONAL_TOKEN_LIVES_MS = 60_000;

/** Tokens remembered so in one isolate, at about 100 bytes each; then all are forgotten. */
export const LIVING_PERSONAL_TOKENS_MAX = 10_000;
