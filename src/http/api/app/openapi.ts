/** An app's own view of itself in the OpenAPI document. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { operation } from "../../openapi/operation.ts";
import { registered_app } from "../../openapi/app_schemas.ts";

const own_app = registered_app
  .pick({
    slug: true,
    name: true,
    settle: true,
    on_expiry: true,
    starter_credits: true,
    daily_starter_budget: true,
    granted_today: true,
  })
  .meta({ id: "OwnApp", description: "The app of the key." });

export const app_itself_paths: ZodOpenApiPathsObject = {
  "/api/app": {
    get: operation({
      id: "readApp",
      tag: "Apps",
      summary: "The app itself, for its server",
      description: "Settings as of at most a minute ago. Send the app's key, and no account.",
      security: "app",
      success: {
        description: "The app.",
        schema: own_app,
        example: {
          slug: "sketch",
          name: "Sketch",
          settle: "app",
          on_expiry: "refund",
          starter_credits: 100,
          daily_starter_budget: 10_000,
          granted_today: 700,
        },
      },
      refusals: [],
    }),
  },
};
