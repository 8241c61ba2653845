/** An app's server: its key is the bearer token, and a header names the account. */
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../../domain/limits.ts";
import { APP_KEY_PREFIX, type AppProof } from "../../domain/proof.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { AppContext, AppCaller } from "../context.ts";
import { countNetworkRequest } from "../middleware/rate_limits.ts";
import { readBearer, refusalOfBearer, refusingService } from "./bearer.ts";

/** The longest identity id that an app's server may name, in characters; ours have 41. */
const IDENTITY_ID_MAX_LENGTH = 255;

/** The header in which an app's server names the account. */
export const IDENTITY_HEADER = "Passbook-Identity";

/** The app key of an `Authorization` header, valid or not; null if the header has no app key. */
export function readAppKey(header: string): string | null {
  const token = readBearer(header);
  return token !== null && token.startsWith(APP_KEY_PREFIX) ? token : null;
}

/** The app key of a request; null if it has none. */
export function appKeyOf(context: AppContext): string | null {
  return readAppKey(context.req.header("Authorization") ?? "");
}

/** The app of a key. A key that is not cached counts for its network before any query to a store. */
export async function findAppOfKey(
  context: AppContext,
  key: string,
): Promise<Result<AppProof, Refusal>> {
  const known = await context.get("services").apps.appOfKey(key);
  const app = known.kind === "app" ? accepted(known) : await lookUpApp(context, key);
  if (app.ok) noteUse(context, app.value);
  return app;
}

/** No response waits for the write. */
function noteUse(context: AppContext, { key_hash }: AppProof): void {
  const written = context.get("services").note_app_key_use(key_hash);
  if (written !== null) context.executionCtx.waitUntil(written);
}

async function lookUpApp(context: AppContext, key: string): Promise<Result<AppProof, Refusal>> {
  const { apps } = context.get("services");
  const limited = await countNetworkRequest(context, "app_key_unknown");
  if (limited !== null) return refused(limited);
  const looked_up = await apps.rereadForKey(key);
  switch (looked_up.kind) {
    case "app":
      return accepted(looked_up);
    case "unreadable":
      return refused({
        code: "unavailable",
        retry_after_seconds: UNAVAILABLE_RETRY_AFTER_SECONDS,
      });
    case "unknown":
      return refused(refusalOfBearer(`Bearer ${key}`, refusingService(context)));
  }
}

/** The app's server, acting in the account that its request names. */
export async function identifyApp(
  context: AppContext,
  key: string,
): Promise<Result<AppCaller, Refusal>> {
  const proof = await findAppOfKey(context, key);
  if (!proof.ok) return proof;
  const identity_id = context.req.header(IDENTITY_HEADER) ?? "";
  if (identity_id === "") return refused({ code: "identity_required" });
  if (identity_id.length > IDENTITY_ID_MAX_LENGTH || !/^[\x21-\x7e]+$/.test(identity_id)) {
    return refused({ code: "account_unknown" });
  }
  const account_caller = { kind: "app", app_slug: proof.value.app_slug } as const;
  return accepted({ identity_id, account_caller, via: "bearer", proof: proof.value });
}
