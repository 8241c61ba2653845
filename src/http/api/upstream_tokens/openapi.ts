/** What the OpenAPI document says of upstream tokens. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { operation } from "../../openapi/operation.ts";
import * as schemas from "../../openapi/schemas.ts";

const upstream_token = {
  description: "The access token that the provider gave.",
  schema: schemas.token,
  example: { token: "gho_16C7e42F292c6912E7710c838347Ae178B4a" },
};

const hand_out = [
  "token_not_found",
  "reconnect_required",
  "upstream_unavailable",
  "origin_not_allowed",
] as const;

export const upstream_tokens_paths: ZodOpenApiPathsObject = {
  "/api/oauthToken/{provider}": {
    get: operation({
      id: "readOAuthToken",
      tag: "Third parties",
      summary: "The access token held for the caller at a provider",
      description:
        "Refreshed first if it is about to expire. A personal access token needs the scope `upstream`.",
      security: "caller",
      path: z.object({ provider: z.string().meta({ examples: ["github"] }) }),
      success: upstream_token,
      refusals: hand_out,
    }),
  },
  "/api/socialToken": {
    get: operation({
      id: "readSocialToken",
      tag: "Third parties",
      summary: "The access token held for the caller at the social network",
      description:
        "As `/api/oauthToken/{provider}`, for the provider that `SOCIAL_PROVIDER` names.",
      security: "caller",
      success: upstream_token,
      refusals: hand_out,
    }),
  },
  "/api/socialMe": {
    get: operation({
      id: "readSocialMe",
      tag: "Third parties",
      summary: "Who the bearer of a social network's token is, as the network says it",
      description:
        "Passes one request on to the network, with the network's own token as bearer. A token of this service is refused and passed on to nobody.",
      security: "social",
      success: { description: "The network's JSON, to the letter.", schema: z.unknown() },
      refusals: ["invalid_request", "rate_limited", "upstream_error", "upstream_not_configured"],
    }),
  },
};
