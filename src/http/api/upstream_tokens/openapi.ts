/** Upstream tokens in the OpenAPI document. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { operation } from "../../openapi/operation.ts";
import * as schemas from "../../openapi/schemas.ts";

const upstream_token = {
  description: "The access token of the provider.",
  schema: schemas.token,
  example: { token: "gho_16C7e42F292c6912E7710c838347Ae178B4a" },
};

const token_refusals = [
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
      summary: "Get the caller's access token of a provider",
      description:
        "A token that is about to expire is refreshed first. A personal access token requires the scope `upstream`.",
      security: "caller",
      path: z.object({ provider: z.string().meta({ examples: ["github"] }) }),
      success: upstream_token,
      refusals: token_refusals,
    }),
  },
  "/api/socialToken": {
    get: operation({
      id: "readSocialToken",
      tag: "Third parties",
      summary: "Get the caller's access token of the social network",
      description:
        "Like `/api/oauthToken/{provider}`, for the provider in the setting `SOCIAL_PROVIDER`.",
      security: "caller",
      success: upstream_token,
      refusals: token_refusals,
    }),
  },
  "/api/socialMe": {
    get: operation({
      id: "readSocialMe",
      tag: "Third parties",
      summary: "Get the social network's profile for a token",
      description:
        "Sends one request to the social network, with the network's own token as bearer token. A token of this service is refused and never sent on.",
      security: "social",
      success: { description: "The unchanged JSON of the social network.", schema: z.unknown() },
      refusals: ["invalid_request", "rate_limited", "upstream_error", "upstream_not_configured"],
    }),
  },
};
