/** `GET /console/jobs[?app=&status=&identity_id=&cursor=]`: jobs across accounts. */
import { ConsoleJobsPage } from "./jobs_page.tsx";
import { findJobs, findJobsQuery } from "../../http/api/admin/list_jobs.ts";
import { factory } from "../../http/context.ts";
import {
  appFilter,
  cursorOf,
  nullIfUnreadable,
  personNames,
  problemOf,
  readQuery,
} from "./queries.ts";

export const showAllJobs = factory.createHandlers(async (context) => {
  const query = readQuery(context, findJobsQuery);
  const { app, status, identity_id, cursor } = query;
  const [filter, found] = await Promise.all([
    appFilter(context, app),
    nullIfUnreadable(findJobs(context, query)),
  ]);
  const page = found?.ok === true ? found.value : null;
  const jobs = page?.jobs ?? [];
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
      next_cursor={page?.next_cursor}
      as_of={page?.as_of ?? null}
      problem={problemOf(found)}
    />,
  );
});
