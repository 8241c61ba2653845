/** `GET /console/jobs[?app=&status=&identity_id=&cursor=]`: jobs across accounts. */
import { ConsoleJobsPage } from "./jobs_page.tsx";
import { findJobs, findJobsQuery } from "../../http/api/admin/list_jobs.ts";
import { factory } from "../../http/context.ts";
import { appFilter, cursorOf, nullIfUnreadable, personNames, readQuery } from "./queries.ts";

export const showAllJobs = factory.createHandlers(async (context) => {
  const query = readQuery(context, findJobsQuery);
  const { app, status, identity_id, cursor } = query;
  const [filter, found] = await Promise.all([
    appFilter(context, app),
    nullIfUnreadable(findJobs(context, query)),
  ]);
  const jobs = found?.jobs ?? [];
  return context.html(
    <ConsoleJobsPage
      filters={{ app, status, identity_id }}
      cursor={cursor === undefined ? null : cursorOf(context)}
      {...filter}
      jobs={jobs}
      personName={await personNames(
        context,
        jobs.map((job) => job.identity_id),
      )}
      next_cursor={found?.next_cursor}
      as_of={found?.as_of ?? null}
    />,
  );
});
