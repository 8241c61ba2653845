/** Access to an account, in the OpenAPI document. */
import * as z from "zod";
import { describe } from "../../openapi/operation.ts";
import { ACCESS } from "../../openapi/examples.ts";
import { personal_token, slug, time } from "../../openapi/schemas.ts";
import { readAccess } from "./read.ts";
import { allowApp, stopApp } from "./stop.ts";
import { count, named, text_or_null } from "../../openapi/shapes.ts";

const last_used_at = time.nullable();

const spent_this_month = count
  .nullable()
  .describe(
    "The cost of its jobs that ended in this month (UTC), less refunds by operators. Null if the account has more than 20,000 entries of this month.",
  );

const app = named("AccessApp", {
  slug,
  name: z.string().describe("The slug if the app is not registered."),
  icon: z.url().nullable(),
  host: text_or_null.describe("The host of its pages; null if none is registered."),
  state: z
    .enum(["open", "stopped"])
    .describe(
      "`open`: its key and its pages may use the account. `stopped`: the holder ended that.",
    ),
  last_used_at: last_used_at.describe(
    "When its key or its pages last started a job. Null: none of the account's newest 20,000 entries says so.",
  ),
  spent_this_month: spent_this_month.describe(
    "As of a connection, for jobs that its key or its pages started, also those of another app. Jobs that the holder started in a browser count for the job's app, and what a connection or a token spends in the app counts there.",
  ),
  started_jobs: count.describe("Its jobs that are started now, whatever started them."),
});

const { id, resource, scopes, apps, caps, ends_with_session, created_at, expires_at } =
  personal_token.shape;

/** The fields that connections and tokens share. */
const allowance = {
  id,
  resource,
  scopes,
  apps,
  caps,
  ends_with_session,
  created_at,
  last_used_at: last_used_at.describe(
    "Updated at most once an hour. A connection for a resource is used when its tokens are refreshed, introspected or exchanged; what the resource accepts without that is not seen here.",
  ),
  expires_at,
  spent_this_month: spent_this_month.describe(
    "The cost of its jobs, and of its children's jobs, that ended in this month (UTC), less refunds by operators. Null if the account has more than 20,000 entries of this month.",
  ),
};

const EXCHANGED = "The tokens that were exchanged from it, and end with it.";

const connection = z.strictObject({
  ...allowance,
  client_id: text_or_null.describe(
    "Null for a program's token that was exchanged without a client.",
  ),
  name: z.string(),
  host: text_or_null.describe("The host of the client's address; null if registered."),
  registered: z.boolean().describe("Whether an operator of this service registered the client."),
  get children(): z.ZodType {
    return z.array(connection).describe(EXCHANGED);
  },
});
connection.register(z.globalRegistry, { id: "AccessConnection" });

const token = z.strictObject({
  ...allowance,
  label: z.string(),
  current: z.boolean().describe("Whether this request was sent with this token."),
  get children(): z.ZodType {
    return z.array(token).describe(EXCHANGED);
  },
});
token.register(z.globalRegistry, { id: "AccessToken" });

const browser = named("AccessBrowser", {
  id: z.string(),
  current: z.boolean().describe("Whether this request was sent from this browser."),
  browser: text_or_null.describe("The browser and its system; null if unknown."),
  place: text_or_null.describe("Where it was last used; null if unknown."),
  started_at: time,
  last_used_at: last_used_at.describe("Accurate to a day."),
});

const of_app = {
  description: "The app as it is now.",
  schema: z.strictObject({ app }),
  example: { app: ACCESS.apps[0] },
};

export const access = describe(
  "Access",
  { readAccess, stopApp, allowApp },
  {
    stopApp: {
      summary: "Stop an app",
      description:
        "Until it is allowed again, the app's key, its pages and other credentials start no job for it, and its key and pages read nothing except its jobs that were started before. Those can still be completed; with `started_jobs: expire` they expire now, as the app's policy says. Connections of the app's clients and to its resources are revoked for good. The same callers as for the list.",
      body: z.object({
        started_jobs: z
          .enum(["keep", "expire"])
          .optional()
          .describe("Whether started jobs may go on: `keep` by default."),
      }),
      success: of_app,
    },
    allowApp: {
      summary: "Allow a stopped app again",
      description:
        "Only on the service's own pages. Revoked connections stay revoked. The account does not become open for an app that it was never open for: then `app` is null.",
      success: {
        ...of_app,
        schema: z.strictObject({ app: app.nullable() }),
      },
    },
    readAccess: {
      summary: "Everything that may act on the account",
      description:
        "Each list has the newest use first. Only for the service's own pages, and for a personal access token without limits; others get 403 `scope`.",
      success: {
        description: "Apps, connections of OAuth clients, personal access tokens and browsers.",
        schema: named("Access", {
          apps: z.array(app),
          connections: z.array(connection),
          tokens: z.array(token),
          browsers: z.array(browser).describe("At most 50."),
        }),
        example: ACCESS,
      },
    },
  },
);
