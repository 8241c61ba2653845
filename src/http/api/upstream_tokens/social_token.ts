/** `GET /api/socialToken`: the access token held for the caller at the social network. */
import { factory } from "../../context.ts";
import { handOut } from "./hand_out.ts";

export const readSocialToken = factory.createHandlers((context) =>
  handOut(context, context.get("services").config.social_provider),
);
