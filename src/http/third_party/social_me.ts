/** `GET /api/socialMe`: asks the social network who the bearer of its token is. */
import { TOKEN_MAX_LENGTH } from "../../domain/limits.ts";
import { isOwnToken } from "../../tokens/own_token.ts";
import { askUpstream, UpstreamFailure, type UpstreamAnswer } from "../../upstream/ask.ts";
import { readBearer } from "../bearer.ts";
import { factory } from "../context.ts";
import { limitNetwork } from "../rate_limits.ts";
import { refuse } from "../refusals.ts";

const NO_BEARER = "Send the social network's own token: Authorization: Bearer <token>.";
const OWN_BEARER = "This is a token of this service, which is sent to nobody. Send the network's.";

/** The bearer goes on; nothing else of the request does. */
export const readSocialMe = factory.createHandlers(limitNetwork("social_me"), async (context) => {
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
