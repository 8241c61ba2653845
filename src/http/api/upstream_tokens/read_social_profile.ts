/** `GET /api/socialMe`: returns the social network's profile for a token of that network. */
import { TOKEN_MAX_LENGTH } from "../../../domain/limits.ts";
import { isOwnToken } from "../../../tokens/own_token.ts";
import { readBearer } from "../../caller/bearer.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";

const NO_BEARER = "Send the social network's own token: Authorization: Bearer <token>.";
const OWN_BEARER =
  "This is a token of this service, which is never sent to another server. Send the social network's token.";

/** Forwards only the bearer token, nothing else of the request. */
export const readSocialMe = endpoint(
  {
    at: "GET /api/socialMe",
    caller: "social_network",
    rate: "social_me",
    refusals: ["invalid_request", "upstream_error", "upstream_not_configured"],
  },
  async (context) => {
    const bearer = readBearer(context.req.header("Authorization") ?? "");
    if (bearer === null || bearer.length > TOKEN_MAX_LENGTH) {
      return refuse(context, { code: "invalid_request", detail: NO_BEARER });
    }
    const { issuer_tokens, keys, social_network } = context.get("services");
    if (isOwnToken(context.get("base_url"), keys, bearer) || issuer_tokens.names(bearer)) {
      return refuse(context, { code: "invalid_request", detail: OWN_BEARER });
    }
    if (social_network === null) return refuse(context, { code: "upstream_not_configured" });
    const profile = await social_network(bearer);
    if (!profile.ok) return refuse(context, { code: "upstream_error", ...profile.refusal });
    context.header("Content-Type", "application/json");
    return context.body(profile.value);
  },
);
