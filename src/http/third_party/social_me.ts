/** `GET /api/socialMe`: asks the social network who the bearer of its token is. */
import { RATE_LIMIT_SOCIAL_ME_SECONDS, TOKEN_MAX_LENGTH } from "../../domain/limits.ts";
import { isOwnToken } from "../../tokens/own_token.ts";
import { askUpstream, UpstreamFailure, type UpstreamAnswer } from "../../upstream/ask.ts";
import { readBearer } from "../bearer.ts";
import { clientNetwork } from "../client_address.ts";
import { factory } from "../context.ts";
import { refuse } from "../refusals.ts";

const NO_BEARER = "Send the social network's own token: Authorization: Bearer <token>.";
const OWN_BEARER = "This is a token of this service, which is sent to nobody. Send the network's.";

/** Nobody need be signed in, so callers are told apart by address. */
const limitByAddress = factory.createMiddleware(async (context, next) => {
  const { social_me } = context.get("services").limits;
  const { success } = await social_me.limit({ key: clientNetwork(context) });
  if (success) return next();
  const retry_after_seconds = RATE_LIMIT_SOCIAL_ME_SECONDS;
  return refuse(context, { code: "rate_limited", retry_after_seconds });
});

/** The bearer goes on; nothing else of the request does. */
export const readSocialMe = factory.createHandlers(limitByAddress, async (context) => {
  const bearer = readBearer(context.req.header("Authorization") ?? "");
  if (bearer === null || bearer.length > TOKEN_MAX_LENGTH) {
    return refuse(context, { code: "invalid_request", detail: NO_BEARER });
  }
  const { config, keys } = context.get("services");
  if (isOwnToken(context.get("base_url"), keys, bearer)) {
    return refuse(context, { code: "invalid_request", detail: OWN_BEARER });
  }
  if (config.social_api_url === null) return refuse(context, { code: "upstream_not_configured" });
  const answer = await askSocialNetwork(config.social_api_url, bearer);
  const { status: upstream_status } = answer;
  if (answer instanceof UpstreamFailure || !isSuccess(answer) || !isJson(answer.text)) {
    return refuse(context, { code: "upstream_error", upstream_status });
  }
  // As it came, not parsed and written anew: that would round the long numbers some use as ids.
  context.header("Content-Type", "application/json");
  return context.body(answer.text);
});

async function askSocialNetwork(
  url: string,
  bearer: string,
): Promise<UpstreamAnswer | UpstreamFailure> {
  const headers = { Authorization: `Bearer ${bearer}`, Accept: "application/json" };
  try {
    return await askUpstream(url, { headers });
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
}

function isSuccess({ status }: UpstreamAnswer): boolean {
  return status >= 200 && status <= 299;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
