/** `GET /api/oauthToken/{provider}`: the access token held for the caller at a provider. */
import { factory } from "../../context.ts";
import { handOut } from "./hand_out.ts";

export const readOAuthToken = factory.createHandlers((context) =>
  handOut(context, context.req.param("provider") ?? null),
);
