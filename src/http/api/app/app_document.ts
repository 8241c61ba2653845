/** An app's own view of itself in the OpenAPI document. */
import { describe } from "../../openapi/operation.ts";
import * as endpoints from "./read.ts";
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
    paused: true,
  })
  .meta({ id: "OwnApp", description: "The app of the key." });

export const app_itself = describe("Apps", endpoints, {
  readApp: {
    summary: "The app itself, for its server",
    description:
      "Settings as of at most a minute ago. While `paused` is not null, new jobs get 403 `app_paused`; started jobs can end. Send the app's key, and no account.",
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
        paused: null,
      },
    },
  },
});
