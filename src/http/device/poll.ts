/** `GET /api/device/poll`: the device asks for its token (RFC 8628, sections 3.4 and 3.5). */
import { v4 as uuidv4 } from "uuid";
import * as z from "zod";
import type { PolledLogin } from "../../device/contract.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, type Result } from "../../domain/result.ts";
import { factory, type AppContext } from "../context.ts";
import { refuse } from "../refusals.ts";
import { validQuery } from "../validation.ts";
import { countUnknownPoll } from "./limits.ts";

export const pollLoginQuery = z.object({ device_code: z.string("must be given once") });

const DAY_MS = 24 * 60 * 60 * 1000;

export const pollLogin = factory.createHandlers(validQuery(pollLoginQuery), async (context) => {
  // A HEAD would collect the token and drop it.
  if (context.req.raw.method !== "GET") return context.body(null, 405, { Allow: "GET" });
  const { device_codes, device_logins } = context.get("services");
  const { device_code } = context.req.valid("query");
  const user_code = await device_codes.read(device_code);
  if (user_code === null) return refuseUnknown(context);
  const answer = await device_logins(user_code).poll(await device_codes.digest(device_code));
  if (!answer.ok) {
    const unknown = answer.refusal.code === "device_code_unknown";
    return unknown ? refuseUnknown(context) : refuse(context, answer.refusal);
  }
  const polled: PolledLogin = answer.value;
  if (polled.kind === "collected") {
    const minted = await mint(context, polled);
    return minted.ok ? context.json({ token: minted.value }) : refuse(context, minted.refusal);
  }
  const code = polled.too_early ? "slow_down" : "authorization_pending";
  context.header("Retry-After", String(polled.retry_after_seconds));
  return context.json(
    { code, interval: context.get("services").config.device_poll_interval_seconds },
    202,
  );
});

async function refuseUnknown(context: AppContext): Promise<Response> {
  return refuse(context, (await countUnknownPoll(context)) ?? { code: "device_code_unknown" });
}

/**
 * Makes the token of a login that was just redeemed. Its row comes last: should anything fail on the
 * way, the device starts a new login, and no token is valid that nobody has.
 */
async function mint(
  context: AppContext,
  { grant, asker }: Extract<PolledLogin, { kind: "collected" }>,
): Promise<Result<string, Refusal>> {
  const { accounts, config, personal_tokens } = context.get("services");
  const { identity_id, limits } = grant;
  const id = uuidv4();
  const expires_at_ms = Date.now() + config.pat_ttl_days * DAY_MS;
  const claims = { identity_id, token_id: id };
  const token = await personal_tokens.sign(context.get("base_url"), claims, expires_at_ms);
  const { app_slug, client_name, program } = asker;
  const label = client_name ?? app_slug ?? program ?? "A device";
  // The approver's browser session stands behind it: the grant is what it left.
  const caller = { token_id: null };
  const issued = await accounts(identity_id).issueToken(caller, {
    id,
    label,
    app_slug,
    limits,
    expires_at_ms,
  });
  return issued.ok ? accepted(token) : issued;
}
