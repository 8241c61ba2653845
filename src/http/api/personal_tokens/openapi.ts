/** Personal access tokens in the OpenAPI document. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { changeTokenBody } from "./change.ts";
import { done, operation } from "../../openapi/operation.ts";
import * as schemas from "../../openapi/schemas.ts";
import { PERSONAL_TOKEN, PERSONAL_TOKEN_ID } from "../../openapi/examples.ts";

export const personal_tokens_paths: ZodOpenApiPathsObject = {
  "/api/tokens": {
    get: operation({
      id: "listPersonalTokens",
      tag: "Personal access tokens",
      summary: "The caller's valid tokens, newest first",
      description:
        "Revoked and expired tokens are not listed. The token itself is not stored and not returned.",
      security: "caller",
      success: {
        description: "The tokens. A token that is limited to some apps sees only itself.",
        schema: schemas.personal_tokens,
        example: { tokens: [PERSONAL_TOKEN] },
      },
      refusals: [],
    }),
  },
  "/api/tokens/{id}": {
    patch: operation({
      id: "changePersonalToken",
      tag: "Personal access tokens",
      summary: "Change a token's name, caps or apps",
      description:
        "Only a session of the holder may do this, never a token. A changed cap of the same period keeps its spending; a cap of a new period counts from now. `caps: []` removes all caps, `apps: null` allows all apps. Only the service's own pages can give more credits or apps; another session can only lower them, unless the token ends with a session.",
      security: "session",
      path: z.object({ id: z.string().meta({ examples: [PERSONAL_TOKEN_ID] }) }),
      body: {
        schema: changeTokenBody,
        example: { caps: [{ credits: 50, period: "month" }] },
      },
      success: {
        description: "The changed token.",
        schema: schemas.personal_token,
        example: PERSONAL_TOKEN,
      },
      refusals: ["personal_token_not_found", "origin_not_allowed", "scope"],
    }),
    delete: operation({
      id: "revokePersonalToken",
      tag: "Personal access tokens",
      summary: "Revoke a token",
      description:
        "The next call with the token is refused, in every location. A token can revoke only itself.",
      security: "caller",
      path: z.object({ id: z.string().meta({ examples: [PERSONAL_TOKEN_ID] }) }),
      success: done,
      refusals: ["personal_token_not_found", "origin_not_allowed"],
    }),
  },
};
