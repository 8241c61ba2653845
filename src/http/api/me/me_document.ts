/** The caller in the OpenAPI document. */
import { ACCOUNT } from "../../openapi/examples.ts";
import { describe } from "../../openapi/operation.ts";
import * as endpoints from "./read.ts";
import * as schemas from "../../openapi/schemas.ts";

export const me = describe("Sign-in", endpoints, {
  readMe: {
    summary: "The caller's person, plan and rights",
    description:
      "A client of the OAuth server gets the name and the e-mail address only with the scopes `profile` and `email`, and a personal access token only if it has no limits. A personal access token that is limited to some apps is refused.",
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
  },
});
