/** `GET /api/jobs` by an app's key without `Passbook-Identity`: the app's jobs of all accounts, from the read model. */
import { findJobs } from "../admin/list_jobs.ts";
import { countRequest } from "../../middleware/rate_limits.ts";
import { factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { validQuery } from "../../validation.ts";
import { listJobsQuery } from "./list.ts";

/** Every other caller continues with the list of one account. */
export const listJobsOfApp = factory.createHandlers(
  validQuery(listJobsQuery),
  async (context, next) => {
    const own_app = context.get("own_app");
    if (own_app === undefined) return next();
    const query = context.req.valid("query");
    if (query.app !== undefined && query.app !== own_app.app_slug) {
      return refuse(context, { code: "scope", reason: "app_key" });
    }
    const limited = await countRequest(context, "app_jobs", own_app.app_slug);
    if (limited !== null) return refuse(context, limited);
    const found = await findJobs(context, { ...query, app: own_app.app_slug });
    return found.ok ? context.json(found.value) : refuse(context, found.refusal);
  },
);
