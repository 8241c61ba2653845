/** Personal access tokens in the OpenAPI document. */
import * as z from "zod";
import { done, describe } from "../../openapi/operation.ts";
import * as change from "./change.ts";
import * as list from "./list.ts";
import * as revoke from "./revoke.ts";
import * as schemas from "../../openapi/schemas.ts";
import { PERSONAL_TOKEN, PERSONAL_TOKEN_ID } from "../../openapi/examples.ts";

export const personal_tokens = describe(
  "Personal access tokens",
  { ...change, ...list, ...revoke },
  {
    listPersonalTokens: {
      summary: "The caller's token, or all tokens, newest first",
      description:
        "A token sees itself and those exchanged from it. The service's own pages see all tokens and connections, and apps none: `GET /api/access` lists everything with access. Revoked and expired tokens are not listed. The token itself is not stored and not returned.",
      success: {
        description: "The tokens.",
        schema: schemas.personal_tokens,
        example: { tokens: [PERSONAL_TOKEN] },
      },
    },
    changePersonalToken: {
      summary: "Change a token's name, caps or apps",
      description:
        "Only a session of the holder may do this, never a token. A changed cap of the same period keeps its spending; a cap of a new period counts from now. `caps: []` removes all caps, `apps: null` allows all apps; the apps of a connection to a resource stay. Only the service's own pages can give more credits or apps. With one of their session tokens that works only for a token that ends with a session; an app's session only lowers them.",
      path: { id: z.string().meta({ examples: [PERSONAL_TOKEN_ID] }) },
      example: { caps: [{ credits: 50, period: "month" }] },
      success: {
        description: "The changed token.",
        schema: schemas.personal_token,
        example: PERSONAL_TOKEN,
      },
    },
    revokePersonalToken: {
      summary: "Revoke a token",
      description:
        "The next call with the token is refused, in every location. A token can revoke only itself.",
      path: { id: z.string().meta({ examples: [PERSONAL_TOKEN_ID] }) },
      success: done,
    },
  },
);
