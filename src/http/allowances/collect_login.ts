/** Collects the token of a device login: the device polls until a person has decided. */
import type { DeviceClient, PolledLogin } from "../../device/device_contract.ts";
import type { AllowanceLimits } from "../../domain/allowance.ts";
import type { LoginGrant } from "../../domain/device_login.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, type Result, refused } from "../../domain/result.ts";
import type { AppContext } from "../context.ts";
import { countNetworkRequest, countRequest } from "../middleware/rate_limits.ts";
import { collectorOf } from "./start_login.ts";

/** The state of a login, or its token, which is handed out once. */
export type CollectedLogin =
  | Extract<PolledLogin, { readonly kind: "pending" }>
  | { readonly kind: "token"; readonly token: string; readonly limits: AllowanceLimits };

/** `client_id`: as in `startLogin`. A code of another client is refused as unknown. */
export async function collectLogin(
  context: AppContext,
  device_code: string,
  client_id: string | null,
): Promise<Result<CollectedLogin, Refusal>> {
  const { device_codes, device_logins } = context.get("services");
  const user_code = await device_codes.read(device_code);
  if (user_code === null) return refuseUnknown(context);
  const digest = await device_codes.digest(collectorOf(device_code, client_id));
  // Also counted per network: each poll with an old code wakes an object.
  const limited =
    (await countRequest(context, "device_poll", digest)) ??
    (await countNetworkRequest(context, "device_poll"));
  if (limited !== null) return refused(limited);
  const result = await device_logins(user_code).poll(digest);
  if (!result.ok) return result;
  const polled: PolledLogin = result.value;
  if (polled.kind === "pending") return accepted(polled);
  const limits = limitsFor(polled.device_client, polled.grant.limits);
  const minted = await mint(context, { ...polled.grant, limits }, polled.device_client);
  return minted.ok ? accepted({ kind: "token", token: minted.value, limits }) : minted;
}

/** A client that requested only reading gets no more, whatever the person ticked. */
function limitsFor({ reads_only }: DeviceClient, limits: AllowanceLimits): AllowanceLimits {
  const is_less = reads_only === true && limits.access === "write";
  return is_less ? { ...limits, access: "read" } : limits;
}

/** A code that this service never issued reaches no object. */
async function refuseUnknown(context: AppContext): Promise<Result<never, Refusal>> {
  const limited = await countNetworkRequest(context, "device_unknown");
  return refused(limited ?? { code: "device_code_not_found" });
}

/** Issues the token of a login that was just redeemed. If this fails, the device must start again. */
function mint(
  context: AppContext,
  grant: LoginGrant,
  { app_slug, client_name, program, client_id }: DeviceClient,
): Promise<Result<string, Refusal>> {
  const label = client_name ?? app_slug ?? program ?? "A device";
  const { mint_personal_token } = context.get("services");
  return mint_personal_token(context.get("base_url"), grant, { label, app_slug, client_id });
}
