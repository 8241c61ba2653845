/**
 * The rate limits, applied; their numbers and reasons are in `domain/rate_limits.ts`. Each is counted
 * before any store is asked, and this is the only place that says "too many".
 */
import {
  NETWORK_RATE_LIMITS,
  RATE_LIMITS,
  type NetworkRateLimitName,
  type RateLimitBinding,
  type RateLimitName,
  type RateLimitRule,
} from "../../domain/rate_limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { Resumption } from "../../identity/port.ts";
import { networksOf } from "./client_address.ts";
import { factory, type AppContext, type AppCaller, type UserCaller } from "../context.ts";
import { refuseByAccept } from "../refusal_page.ts";

/**
 * Items of a batch that count as one write. A batch saves most of a request's cost, but not the rows. A full
 * batch counts as ten writes, so batches allow 600 jobs per second and single requests 60.
 */
export const BATCH_ITEMS_PER_WRITE = 10;

type Limited = Refusal & { readonly code: "rate_limited" };

/** One request to be counted: by which rule, under which key. */
interface Count {
  readonly rule: RateLimitRule<RateLimitBinding>;
  readonly key: string;
}

/** Counts a request of `key`; the refusal where its limit is reached, else null. */
export function countRequest(
  context: AppContext,
  name: RateLimitName,
  key: string,
): Promise<Limited | null> {
  return count(context, [{ rule: RATE_LIMITS[name], key }]);
}

/** Counts a request of the client's network; the refusal where its limit is reached, else null. */
export function countNetworkRequest(
  context: AppContext,
  name: NetworkRateLimitName,
): Promise<Limited | null> {
  const { network, site } = NETWORK_RATE_LIMITS[name];
  const from = networksOf(context);
  const counts: Count[] = [{ rule: network, key: from.network }];
  if (from.site !== null) counts.push({ rule: site, key: from.site });
  return count(context, counts);
}

async function count(context: AppContext, counts: readonly Count[]): Promise<Limited | null> {
  const { limiters } = context.get("services");
  for (const { rule, key } of counts) {
    const { success } = await limiters(rule).limit({ key });
    if (!success) return { code: "rate_limited", rule };
  }
  return null;
}

/** Holds a route to a limit of the client's network. */
export const limitNetwork = (name: NetworkRateLimitName) =>
  factory.createMiddleware(async (context, next) => {
    const limited = await countNetworkRequest(context, name);
    return limited === null ? next() : refuseByAccept(context, limited);
  });

/**
 * Counts a caller's request before anything is known of their life: a personal access token that was
 * not let in lately counts for itself, so that a revoked one spends nothing of its owner's.
 */
export function countAuthenticated(
  context: AppContext,
  principal: Pick<UserCaller, "identity_id" | "proof">,
): Promise<Limited | null> {
  return countRequest(context, "authenticated", keyOf(context, principal));
}

/** Counts a request of an app's server, for the app and the network that it comes from. */
export function countApp(context: AppContext, app_slug: string): Promise<Limited | null> {
  return countRequest(context, "app", `${app_slug} ${networksOf(context).network}`);
}

/**
 * The key of a caller: their identity, or the token until that is known to live. An app's server spends
 * nothing of its user's.
 */
function keyOf(
  context: AppContext,
  { identity_id, proof }: Pick<UserCaller | AppCaller, "identity_id" | "proof">,
): string {
  if (proof.kind === "session") return identity_id;
  if (proof.kind === "app") return `app ${proof.app_slug} ${identity_id}`;
  const { living_personal_tokens } = context.get("services");
  return living_personal_tokens.has(proof.personal_token_id, Date.now())
    ? identity_id
    : `pat ${proof.personal_token_id}`;
}

/**
 * Remembers from an answer whether the caller's token lives. Only what the account itself decided
 * counts: a malformed body is refused before anybody asked.
 */
export function rememberTokenStatus(
  context: AppContext,
  { proof }: Pick<UserCaller, "proof">,
): void {
  if (proof.kind === "session") return;
  const { living_personal_tokens } = context.get("services");
  if (context.res.status === 401) living_personal_tokens.forget(proof.personal_token_id);
  else if (context.res.status < 400 || [402, 403].includes(context.res.status)) {
    living_personal_tokens.add(proof.personal_token_id, Date.now());
  }
}

/** Holds a caller's writes to their limit. After `authenticate`. */
export const limitWrites = factory.createMiddleware(async (context, next) => {
  const key = keyOf(context, context.get("caller"));
  const limited = await countRequest(context, "writes", key);
  return limited === null ? next() : refuseByAccept(context, limited);
});

/** Holds a person to so many checkouts, whatever way they ask. After `authenticate` or `requireSignIn`. */
export const limitCheckouts = factory.createMiddleware(async (context, next) => {
  const limited = await countRequest(context, "checkout", context.get("caller").identity_id);
  return limited === null ? next() : refuseByAccept(context, limited);
});

/**
 * Counts the writes that a batch of so many items is beyond its first, which {@link limitWrites}
 * counted; the refusal where they are too many.
 */
export async function countBatch(context: AppContext, items: number): Promise<Limited | null> {
  const further = Math.ceil(items / BATCH_ITEMS_PER_WRITE) - 1;
  const key = keyOf(context, context.get("caller"));
  const writes = Array.from({ length: further }, () => countRequest(context, "writes", key));
  return (await Promise.all(writes)).find((limited) => limited !== null) ?? null;
}

/**
 * Counts an attempt at a user code, right or wrong, for the account and for the network.
 * @returns the refusal where either has had its share; null where the attempt may go on.
 */
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

/** Holds answers to one sign-in to their limit, by the `state` that only its own cookie matches. */
export const limitSignInCallbacks = factory.createMiddleware(async (context, next) => {
  const state = context.req.query("state") ?? "";
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(state));
  const key = btoa(String.fromCharCode(...new Uint8Array(digest)));
  const limited = await countRequest(context, "signin_answer", key);
  return limited === null ? next() : refuseByAccept(context, limited);
});

/** Thrown where a session's look-up is one too many: it is asked for in many places, refused in one. */
export class TooManyLookups extends Error {
  readonly refusal: Limited;

  constructor(refusal: Limited) {
    super("too many session look-ups");
    this.name = "TooManyLookups";
    this.refusal = refusal;
  }
}

/**
 * The session that a request's cookies prove, looked up within the limit of its network. A request
 * without cookies asks no store and counts for nothing.
 * @throws {TooManyLookups} which the app's error handler answers as 429.
 */
export async function resumeSession(context: AppContext): Promise<Resumption> {
  await countSessionLookup(context);
  return context.get("services").identity.resume(context.req.raw);
}

/** The count alone, for what looks a session up by itself. @throws {TooManyLookups} */
export async function countSessionLookup(context: AppContext): Promise<void> {
  if (context.req.header("Cookie") === undefined) return;
  const limited = await countNetworkRequest(context, "session_lookup");
  if (limited !== null) throw new TooManyLookups(limited);
}

/** {@link countSessionLookup} for a route. */
export const limitSessionLookups = factory.createMiddleware(async (context, next) => {
  await countSessionLookup(context);
  return next();
});
