/** The rate limits of device logins, all counted before anything is looked up. */
import { RATE_LIMIT_DEVICE_SECONDS } from "../../domain/limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { clientNetwork } from "../client_address.ts";
import { factory, type AppContext } from "../context.ts";
import { refuse } from "../refusals.ts";

const LIMITED: Refusal = { code: "rate_limited", retry_after_seconds: RATE_LIMIT_DEVICE_SECONDS };

/** Holds the starts of one network to their limit. */
export const limitStarts = factory.createMiddleware(async (context, next) => {
  const { device_start } = context.get("services").limits;
  const { success } = await device_start.limit({ key: clientNetwork(context) });
  return success ? next() : refuse(context, LIMITED);
});

/**
 * Counts an attempt at a user code, right or wrong, for the account and for the network. To open a
 * code and approve it are two; a network has room for more, since an office shares one.
 * @returns the refusal where either has had its share; null where the attempt may go on.
 */
export async function countAttempt(context: AppContext): Promise<Refusal | null> {
  const { device_attempt, device_network } = context.get("services").limits;
  const { identity_id } = context.get("principal");
  const [account, network] = await Promise.all([
    device_attempt.limit({ key: identity_id }),
    device_network.limit({ key: clientNetwork(context) }),
  ]);
  return account.success && network.success ? null : LIMITED;
}

/** {@link countAttempt} for the API. */
export const limitAttempts = factory.createMiddleware(async (context, next) => {
  const refusal = await countAttempt(context);
  return refusal === null ? next() : refuse(context, refusal);
});

/** Counts a poll of a code that does not exist; polls of real codes are paced, never refused. */
export async function countUnknownPoll(context: AppContext): Promise<Refusal | null> {
  const { device_unknown } = context.get("services").limits;
  const { success } = await device_unknown.limit({ key: clientNetwork(context) });
  return success ? null : LIMITED;
}
