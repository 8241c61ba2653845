/** Personal access tokens in the OpenAPI document. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
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
