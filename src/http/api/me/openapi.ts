/** The caller in the OpenAPI document. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { ACCOUNT } from "../../openapi/examples.ts";
import { operation } from "../../openapi/operation.ts";
import * as schemas from "../../openapi/schemas.ts";

export const me_paths: ZodOpenApiPathsObject = {
  "/api/me": {
    get: operation({
      id: "readMe",
      tag: "Sign-in",
      summary: "The caller's person, plan and rights",
      description:
        "A client of the OAuth server gets the name and the e-mail address only with the scopes `profile` and `email`, and a personal access token only if it has no limits. A personal access token that is limited to some apps is refused.",
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
