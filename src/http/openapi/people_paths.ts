/** The document's people: who they are, how they sign in, and their tokens. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { askerBody } from "../device/asker.ts";
import { completeLoginBody } from "../device/complete.ts";
import { pollLoginQuery } from "../device/poll.ts";
import { signOutForm } from "../signout.ts";
import { ACCOUNT, DEVICE, PERSONAL_TOKEN, PERSONAL_TOKEN_ID } from "./examples.ts";
import { COOKIES, operation, type Success } from "./operation.ts";
import * as schemas from "./schemas.ts";

const done = { description: "Done.", schema: schemas.done, example: { ok: true } };

const page = { description: "A page for people.", type: "text/html", headers: COOKIES };

const elsewhere: Success = {
  status: 303,
  description: "The browser goes on.",
  headers: { Location: { required: true, schema: { type: "string" } }, ...COOKIES },
};

const session_token = {
  description: "The token.",
  schema: schemas.token,
  example: { token: "eyJhbGciOiJFZERTQSIsInR5cCI6InNlc3Npb24rand0In0.e30.c2ln" },
};

const upstream_token = {
  description: "The access token that the provider gave.",
  schema: schemas.token,
  example: { token: "gho_16C7e42F292c6912E7710c838347Ae178B4a" },
};

const hand_out = [
  "token_not_found",
  "reconnect_required",
  "upstream_unavailable",
  "origin_not_allowed",
] as const;

export const people_paths: ZodOpenApiPathsObject = {
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
  "/api/device/start": {
    post: operation({
      id: "startDeviceLogin",
      tag: "Device login",
      summary: "Begin a device login",
      description: "RFC 8628. The body may be left out. 60 a minute from one network.",
      security: "none",
      body: {
        schema: askerBody,
        example: { client_name: "Build agent", app: "sketch" },
        optional: true,
      },
      success: {
        description: "Show the code, and poll.",
        schema: schemas.device_authorization,
        example: DEVICE,
      },
      refusals: ["rate_limited"],
    }),
  },
  "/api/device/complete": {
    post: operation({
      id: "completeDeviceLogin",
      tag: "Device login",
      summary: "Approve a device login",
      description:
        "By a signed-in person, who may limit the token. Attempts at codes, right or wrong, are limited.",
      security: "session",
      body: {
        schema: completeLoginBody,
        example: { user_code: DEVICE.user_code, scopes: ["read"], apps: ["sketch"] },
      },
      success: done,
      refusals: [
        "user_code_invalid",
        "too_many_tokens",
        "expired_token",
        "already_used",
        "access_denied",
        "origin_not_allowed",
        "not_operator",
      ],
    }),
  },
  "/api/device/poll": {
    get: operation({
      id: "pollDeviceLogin",
      tag: "Device login",
      summary: "Ask for the token",
      description: "The token comes once, whenever it is asked for after approval.",
      security: "none",
      query: pollLoginQuery,
      success: [
        {
          description: "A personal access token, this once.",
          schema: schemas.token,
          example: { token: "pb_pat_eyJhbGciOiJIUzI1NiIsInR5cCI6InBhdCtqd3QifQ.e30.c2ln" },
        },
        {
          status: 202,
          description: "Nobody has decided yet; `slow_down`: this poll came too early.",
          schema: schemas.device_pending,
          example: { code: "authorization_pending", interval: 5 },
          headers: {
            "Retry-After": {
              description: "Seconds until the next poll.",
              required: true,
              schema: { type: "string" },
            },
          },
        },
      ],
      refusals: [
        "suspended",
        "device_code_unknown",
        "expired_token",
        "already_used",
        "access_denied",
        "too_many_tokens",
        "rate_limited",
      ],
    }),
  },
  "/device": {
    get: operation({
      id: "showDevice",
      tag: "Device login",
      summary: "The page where a person approves a device login",
      description: "A caller who is not signed in signs in first and returns to this page.",
      security: "session",
      query: z.object({ user_code: z.string().optional() }),
      success: [page, elsewhere],
      refusals: [
        "user_code_invalid",
        "expired_token",
        "already_used",
        "access_denied",
        "origin_not_allowed",
      ],
      pages: true,
    }),
  },
  "/api/tokens": {
    get: operation({
      id: "listPersonalTokens",
      tag: "Personal access tokens",
      summary: "The caller's living tokens, newest first",
      description:
        "Revoked and expired tokens are not listed. The token itself is stored and shown nowhere.",
      security: "caller",
      success: {
        description: "The tokens. One that is limited to some apps sees itself only.",
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
      description: "From the next call on, everywhere. A token may revoke only itself.",
      security: "caller",
      path: z.object({ id: z.string().meta({ examples: [PERSONAL_TOKEN_ID] }) }),
      success: done,
      refusals: ["personal_token_not_found", "origin_not_allowed"],
    }),
  },
  "/api/oauthToken/{provider}": {
    get: operation({
      id: "readOAuthToken",
      tag: "Third parties",
      summary: "The access token held for the caller at a provider",
      description:
        "Refreshed first if it is about to expire. A personal access token needs the scope `upstream`.",
      security: "caller",
      path: z.object({ provider: z.string().meta({ examples: ["github"] }) }),
      success: upstream_token,
      refusals: hand_out,
    }),
  },
  "/api/socialToken": {
    get: operation({
      id: "readSocialToken",
      tag: "Third parties",
      summary: "The access token held for the caller at the social network",
      description:
        "As `/api/oauthToken/{provider}`, for the provider that `SOCIAL_PROVIDER` names.",
      security: "caller",
      success: upstream_token,
      refusals: hand_out,
    }),
  },
  "/api/socialMe": {
    get: operation({
      id: "readSocialMe",
      tag: "Third parties",
      summary: "Who the bearer of a social network's token is, as the network says it",
      description:
        "Passes one request on to the network, with the network's own token as bearer. A token of this service is refused and passed on to nobody.",
      security: "social",
      success: { description: "The network's JSON, to the letter.", schema: z.unknown() },
      refusals: ["invalid_request", "rate_limited", "upstream_error", "upstream_not_configured"],
    }),
  },
};
