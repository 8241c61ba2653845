/**
 * `GET /api/oauthToken/{provider}` and `GET /api/socialToken`: the upstream token held for the caller, only while
 * the caller's session lives.
 */
import type { SessionProof } from "../../../domain/proof.ts";
import { callerOf, type AppContext } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { appReceivesProvider, findReceivingApps, isConfiguredOrigin } from "./allowed_origin.ts";

/** Provider ids as the settings allow them. Any other text is refused without a call to a store. */
const PROVIDER_ID = /^[a-z0-9][a-z0-9-]{0,31}$/;

const REFUSALS = ["token_not_found", "reconnect_required", "upstream_unavailable"] as const;

export const readOAuthToken = endpoint(
  {
    at: "GET /api/oauthToken/{provider}",
    caller: "live_user",
    refusals: REFUSALS,
  },
  (context, { params }) => respondWithToken(context, params.provider),
);

export const readSocialToken = endpoint(
  { at: "GET /api/socialToken", caller: "live_user", refusals: REFUSALS },
  (context) => respondWithToken(context, context.get("services").config.social_provider),
);

/** Responds with `{ token }`. `provider` is null if the settings name no social network. */
async function respondWithToken(context: AppContext, provider: string | null): Promise<Response> {
  if (provider === null || !PROVIDER_ID.test(provider)) {
    return refuse(context, { code: "token_not_found" });
  }
  const { identity_id, proof } = context.get("caller");
  if (proof.kind === "session" && !(await mayReceive(context, proof, provider))) {
    return refuse(context, { code: "scope", reason: "upstream_origin" });
  }
  if (proof.kind === "app_session" && !proof.upstream) {
    return refuse(context, { code: "scope", reason: "upstream_issuer" });
  }
  const { upstream_tokens } = context.get("services");
  const is_client = proof.kind === "connection";
  const receiving = is_client ? await findReceivingApps(context, provider) : [];
  const slugs = receiving.map(({ slug }) => slug);
  const read = await upstream_tokens.read(identity_id, callerOf(context), provider, slugs);
  return read.ok ? context.json({ token: read.value.token }) : refuse(context, read.refusal);
}

async function mayReceive(
  context: AppContext,
  proof: SessionProof,
  provider: string,
): Promise<boolean> {
  return (
    (await isConfiguredOrigin(context, proof)) || appReceivesProvider(context, proof, provider)
  );
}
