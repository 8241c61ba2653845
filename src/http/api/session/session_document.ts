/** Sessions in the OpenAPI document: sign-in, sign-out and session tokens. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { COOKIES, done, redirect, operation, page, describe } from "../../openapi/operation.ts";
import * as issue_token from "./issue_token.ts";
import * as sign_out from "./sign_out.ts";
import * as schemas from "../../openapi/schemas.ts";

const session_token = {
  description: "The token.",
  schema: schemas.token,
  example: { token: "eyJhbGciOiJFZERTQSIsInR5cCI6InNlc3Npb24rand0In0.e30.c2ln" },
};

export const session = describe(
  "Sign-in",
  { ...issue_token, ...sign_out },
  {
    issueSessionToken: {
      query: z.object({
        template: z.string().optional().describe("The name of a template in `TOKEN_TEMPLATES`."),
      }),
      summary: "Get a new session token",
      description:
        "For a caller with cookies or a bearer token whose session is live. With `template`, the token is for another service. An OAuth client's session token expires with the access token that it was obtained with.",
      success: session_token,
      signin_url: true,
    },
    signOut: {
      summary: "End this browser's session",
      description:
        "Accepts a form from a page of an allowed origin. A client that does not accept HTML gets JSON.",
      success: [{ ...done, headers: COOKIES }, redirect],
      pages: true,
    },
  },
);

/** The page that a browser opens. Its route is in `web`. */
export const session_page: ZodOpenApiPathsObject = {
  "/signin": {
    get: operation({
      id: "signIn",
      tag: "Sign-in",
      summary: "The sign-in page",
      description:
        "After sign-in the browser goes to `redirect_to` with `token` added to its query. A person who is already signed in can continue with that account.",
      security: "none",
      query: z.object({
        redirect_to: z.url().optional().describe("An absolute URL of an allowed origin."),
      }),
      success: [page, redirect],
      refusals: ["redirect_not_allowed", "rate_limited", "suspended"],
      pages: true,
    }),
  },
};
