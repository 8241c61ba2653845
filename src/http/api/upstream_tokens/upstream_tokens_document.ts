/** Upstream tokens in the OpenAPI document. */
import * as z from "zod";
import { describe } from "../../openapi/operation.ts";
import * as read from "./read.ts";
import * as read_social_profile from "./read_social_profile.ts";
import * as schemas from "../../openapi/schemas.ts";

const upstream_token = {
  description: "The access token of the provider.",
  schema: schemas.token,
  example: { token: "gho_16C7e42F292c6912E7710c838347Ae178B4a" },
};

export const upstream_tokens = describe(
  "Third parties",
  { ...read, ...read_social_profile },
  {
    readOAuthToken: {
      summary: "Get the caller's access token of a provider",
      description:
        "A token that is about to expire is refreshed first. A personal access token requires the scope `upstream`.",
      path: { provider: z.string().meta({ examples: ["github"] }) },
      success: upstream_token,
    },
    readSocialToken: {
      summary: "Get the caller's access token of the social network",
      description:
        "Like `/api/oauthToken/{provider}`, for the provider in the setting `SOCIAL_PROVIDER`.",
      success: upstream_token,
    },
    readSocialMe: {
      summary: "Get the social network's profile for a token",
      description:
        "Sends one request to the social network, with the network's own token as bearer token. A token of this service is refused and never sent on.",
      success: { description: "The unchanged JSON of the social network.", schema: z.unknown() },
    },
  },
);
