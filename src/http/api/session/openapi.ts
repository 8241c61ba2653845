/** What the OpenAPI document says of sessions: signing in and out, and session tokens. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { COOKIES, done, elsewhere, operation, page } from "../../openapi/operation.ts";
import * as schemas from "../../openapi/schemas.ts";
import { signOutForm } from "./sign_out.ts";

const session_token = {
  description: "The token.",
  schema: schemas.token,
  example: { token: "eyJhbGciOiJFZERTQSIsInR5cCI6InNlc3Npb24rand0In0.e30.c2ln" },
};

export const session_paths: ZodOpenApiPathsObject = {
  "/api/sessionToken": {
    get: operation({
      id: "issueSessionToken",
      tag: "Sign-in",
      summary: "A fresh session token",
      description:
        "For whoever is signed in by cookie or bearer, while the session lives. With `template`, a token for another service.",
      security: "caller",
      query: z.object({
        template: z.string().optional().describe("A name of `TOKEN_TEMPLATES`."),
      }),
      success: session_token,
      refusals: ["token_template_unknown", "origin_not_allowed"],
      signin_url: true,
    }),
  },
  "/signin": {
    get: operation({
      id: "signIn",
      tag: "Sign-in",
      summary: "The sign-in page",
      description:
        "Afterwards the browser goes to `redirect_to` with `token` added to its query. Who is signed in already is asked whether to go on as who they are.",
      security: "none",
      query: z.object({
        redirect_to: z.url().optional().describe("An absolute address of an allowed origin."),
      }),
      success: [page, elsewhere],
      refusals: ["redirect_not_allowed", "rate_limited", "suspended"],
      pages: true,
    }),
  },
  "/signout": {
    post: operation({
      id: "signOut",
      tag: "Sign-in",
      summary: "End this browser's session",
      description: "A form of a page of an allowed origin. Programs that read no HTML get JSON.",
      security: "none",
      form: signOutForm,
      success: [{ ...done, headers: COOKIES }, elsewhere],
      refusals: [
        "redirect_not_allowed",
        "origin_not_allowed",
        "invalid_request",
        "body_too_large",
        "rate_limited",
      ],
      pages: true,
    }),
  },
};
