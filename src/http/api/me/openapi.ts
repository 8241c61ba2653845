/** What the OpenAPI document says of the caller. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { ACCOUNT } from "../../openapi/examples.ts";
import { operation } from "../../openapi/operation.ts";
import * as schemas from "../../openapi/schemas.ts";

export const me_paths: ZodOpenApiPathsObject = {
  "/api/me": {
    get: operation({
      id: "readMe",
      tag: "Sign-in",
      summary: "Who the caller is",
      description: "Not for a personal access token that is limited to some apps.",
      security: "caller",
      success: {
        description: "The person.",
        schema: schemas.me,
        example: {
          identity_id: ACCOUNT.identity_id,
          name: "Ada Lovelace",
          email: "ada@example.com",
          email_verified: true,
          plan: "free",
          operator: false,
        },
      },
      refusals: [],
    }),
  },
};
