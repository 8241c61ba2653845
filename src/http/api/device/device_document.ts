/** Device login in the OpenAPI document. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { done, redirect, operation, page, describe } from "../../openapi/operation.ts";
import * as start from "./start.ts";
import * as complete from "./complete.ts";
import * as poll from "./poll.ts";
import * as schemas from "../../openapi/schemas.ts";
import { DEVICE } from "../../openapi/examples.ts";

export const device = describe(
  "Device login",
  { ...start, ...complete, ...poll },
  {
    startDeviceLogin: {
      summary: "Begin a device login",
      description:
        "Starts a login as in RFC 8628. The body is optional. Requests are limited per network.",
      example: { client_name: "Build agent", app: "sketch" },
      success: {
        description: "Show the user code to the person, then poll.",
        schema: schemas.device_authorization,
        example: DEVICE,
      },
    },
    completeDeviceLogin: {
      summary: "Approve a device login",
      description:
        "A signed-in person approves the login and may limit the token. Attempts at codes, right or wrong, are limited.",
      example: { user_code: DEVICE.user_code, scopes: ["read"], apps: ["sketch"] },
      success: done,
    },
    pollDeviceLogin: {
      summary: "Poll for the token",
      description: "After approval, the first poll returns the token. It is returned only once.",
      success: [
        {
          description: "The personal access token, returned only once.",
          schema: schemas.token,
          example: { token: "pb_pat_eyJhbGciOiJIUzI1NiIsInR5cCI6InBhdCtqd3QifQ.e30.c2ln" },
        },
        {
          status: 202,
          description:
            "The login is not yet approved or denied. `slow_down`: this poll came too early.",
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
    },
  },
);

/** The page that a browser opens. Its route is in `web`. */
export const device_page: ZodOpenApiPathsObject = {
  "/device": {
    get: operation({
      id: "showDevice",
      tag: "Device login",
      summary: "The page on which a person approves a device login",
      description: "A person who is not signed in signs in first and returns to this page.",
      security: "session",
      query: z.object({ user_code: z.string().optional() }),
      success: [page, redirect],
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
};
