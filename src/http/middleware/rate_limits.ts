/** Applies the rate limits of `domain/rate_limits.ts`. Each request is counted before any query to a store. */
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../../domain/limits.ts";
import {
  NETWORK_RATE_LIMITS,
  RATE_LIMITS,
  passesWithoutLimiter,
  policyName,
  type NetworkRateLimitName,
  type RateLimitBinding,
  type RateLimitName,
  type RateLimitRule,
} from "../../domain/rate_limits.ts";
import { credentialId, isOfAllowance, type AppProof } from "../../domain/proof.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { errorName } from "../../domain/result.ts";
import type { Resumption } from "../../identity/port.ts";
import { networksOf } from "./client_address.ts";
import { factory, type AppContext, type AppCaller, type UserCaller } from "../context.ts";
import { refuseByAccept } from "../refusal_page.ts";

/**
 * Items of a batch that count as one write. A batch saves most of a request's cost, but not the rows. A full
 * batch counts as ten writes, so batches allow 600 jobs per second and single requests 60.
 */
export const BATCH_ITEMS_PER_WRITE = 10;

/** `unavailable`: the limiter failed, and the request may not pass without it. */
type Limited = Refusal & { readonly code: "rate_limited" | "unavailable" };

interface Count {
  readonly rule: RateLimitRule<RateLimitBinding>;
  readonly key: string;
}

/** Counts a request of `key`. Returns a refusal if the limit is reached, else null. */
export function countRequest(
  context: AppContext,
  name: RateLimitName,
  key: string,
): Promise<Limited | null> {
  return count(context, [{ rule: RATE_LIMITS[name], key }]);
}

/**
 * Counts a request of the client's network. Returns a refusal if the limit is reached, else null. `subject`: what the
 * network is counted for, if each has a count of its own.
 */
export function countNetworkRequest(
  context: AppContext,
  name: NetworkRateLimitName,
  subject?: string,
): Promise<Limited | null> {
  const { network, site } = NETWORK_RATE_LIMITS[name];
  const from = networksOf(context);
  const keyOf = (source: string): string =>
    subject === undefined ? source : `${source} ${subject}`;
  const counts: Count[] = [{ rule: network, key: keyOf(from.network) }];
  if (from.site !== null) counts.push({ rule: site, key: keyOf(from.site) });
  return count(context, counts);
}

async function count(context: AppContext, counts: readonly Count[]): Promise<Limited | null> {
  for (const counted of counts) {
    const limited = await countOne(context, counted);
    if (limited !== null) return limited;
  }
  return null;
}

async function countOne(context: AppContext, { rule, key }: Count): Promise<Limited | null> {
  try {
    const { success } = await context.get("services").limiters(rule).limit({ key });
    return success ? null : { code: "rate_limited", rule };
  } catch (error) {
    console.error({
      event: "rate_limiter_failed",
      rule: policyName(rule),
      reason: errorName(error),
    });
    if (passesWithoutLimiter(rule)) return null;
    return { code: "unavailable", retry_after_seconds: UNAVAILABLE_RETRY_AFTER_SECONDS };
  }
}

/** Applies a limit per network to a route. */
export const limitNetwork = (name: NetworkRateLimitName) =>
  factory.createMiddleware(async (context, next) => {
    const limited = await countNetworkRequest(context, name);
    return limited === null ? next() : refuseByAccept(context, limited);
  });

/**
 * Counts a caller's request. A personal access token that the account did not accept recently has a count of its own, so
 * that a revoked token does not use up the holder's limit.
 */
export function countAuthenticated(
  context: AppContext,
  caller: Pick<UserCaller, "identity_id" | "proof">,
): Promise<Limited | null> {
  return countRequest(context, "authenticated", keyOf(context, caller));
}

/** Counts a request of an app's server, per app and network. */
export function countApp(
  context: AppContext,
  { app_slug }: Pick<AppProof, "app_slug">,
): Promise<Limited | null> {
  return countRequest(context, "app", `${app_slug} ${networksOf(context).network}`);
}

/**
 * The identity, or the token's id if the token may be revoked. An app's server has a key of its own per user, so it does
 * not use up the holder's limit.
 */
function keyOf(
  context: AppContext,
  { identity_id, proof }: Pick<UserCaller | AppCaller, "identity_id" | "proof">,
): string {
  if (proof.kind === "session" || proof.kind === "app_session") return identity_id;
  if (proof.kind === "app") return `app ${proof.app_slug} ${identity_id}`;
  const { living_credentials } = context.get("services");
  return living_credentials.has(credentialId(proof.credential), Date.now())
    ? identity_id
    : `pat ${credentialId(proof.credential)}`;
}

/**
 * Remembers from the response whether the caller's token is live. Only statuses that the account decides count: a
 * malformed body is refused before the account checks the token.
 */
export function rememberTokenStatus(
  context: AppContext,
  { proof }: Pick<UserCaller, "proof">,
): void {
  if (!isOfAllowance(proof)) return;
  const { living_credentials } = context.get("services");
  if (context.res.status === 401) living_credentials.forget(credentialId(proof.credential));
  else if (context.res.status < 400 || [402, 403].includes(context.res.status)) {
    living_credentials.add(credentialId(proof.credential), Date.now());
  }
}

/** Limits a caller's writes. After `authenticate` or `acceptOwnApp`. */
export const limitWrites = factory.createMiddleware(async (context, next) => {
  const own_app = context.get("own_app");
  const key =
    own_app === undefined ? keyOf(context, context.get("caller")) : `app ${own_app.app_slug}`;
  const limited = await countRequest(context, "writes", key);
  return limited === null ? next() : refuseByAccept(context, limited);
});

/** Limits a person's checkouts in the API and on pages together. After `authenticate` or `requireSignIn`. */
export const limitCheckouts = factory.createMiddleware(async (context, next) => {
  const limited = await countRequest(context, "checkout", context.get("caller").identity_id);
  return limited === null ? next() : refuseByAccept(context, limited);
});

/** Limits a person's decisions about OAuth clients and single jobs. Requests without a session pass. */
export const limitConsents = factory.createMiddleware(async (context, next) => {
  const session = context.get("session");
  const limited =
    session === undefined ? null : await countRequest(context, "consent", session.identity_id);
  return limited === null ? next() : refuseByAccept(context, limited);
});

/** Counts the further writes of a batch; {@link limitWrites} has counted the first. Returns a refusal or null. */
export async function countBatch(context: AppContext, items: number): Promise<Limited | null> {
  const further = Math.ceil(items / BATCH_ITEMS_PER_WRITE) - 1;
  const key = keyOf(context, context.get("caller"));
  const writes = Array.from({ length: further }, () => countRequest(context, "writes", key));
  return (await Promise.all(writes)).find((limited) => limited !== null) ?? null;
}

/** Counts an attempt at a user code, right or wrong, per account and per network. Returns a refusal or null. */
export async function countAttempt(context: AppContext): Promise<Limited | null> {
  const { identity_id } = context.get("caller");
  const [account, network] = await Promise.all([
    countRequest(context, "device_attempt", identity_id),
    countNetworkRequest(context, "device_attempt"),
  ]);
  return account ?? network;
}

/** {@link countAttempt} for the API. */
export const limitAttempts = factory.createMiddleware(async (context, next) => {
  const limited = await countAttempt(context);
  return limited === null ? next() : refuseByAccept(context, limited);
});

/** Limits the callbacks of one sign-in, by its `state`. */
export const limitSignInCallbacks = factory.createMiddleware(async (context, next) => {
  const state = context.req.query("state") ?? "";
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(state));
  const key = btoa(String.fromCharCode(...new Uint8Array(digest)));
  const limited = await countRequest(context, "signin_answer", key);
  return limited === null ? next() : refuseByAccept(context, limited);
});

/** Thrown by session look-ups, which many handlers do; only the error handler responds to it. */
export class TooManyLookups extends Error {
  readonly refusal: Limited;

  constructor(refusal: Limited) {
    super("too many session look-ups");
    this.name = "TooManyLookups";
    this.refusal = refusal;
  }
}

/**
 * Looks up the session of a request's cookies, within the limit of its network. A request without cookies is not counted
 * and queries no store.
 * @throws {TooManyLookups} The error handler responds with 429.
 */
export async function resumeSession(context: AppContext): Promise<Resumption> {
  await countSessionLookup(context);
  return context.get("services").identity.resume(context.req.raw);
}

/** Only counts, for a caller that looks up the session itself. @throws {TooManyLookups} */
async function countSessionLookup(context: AppContext): Promise<void> {
  if (context.req.header("Cookie") === undefined) return;
  const limited = await countNetworkRequest(context, "session_lookup");
  if (limited !== null) throw new TooManyLookups(limited);
}

/** {@link countSessionLookup} for a route. */
export const limitSessionLookups = factory.createMiddleware(async (context, next) => {
  await countSessionLookup(context);
  return next();
});
