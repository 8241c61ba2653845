/** Makes D1 fail and work again, by renaming its tables. */
import { env } from "cloudflare:workers";

async function hasTable(name: string): Promise<boolean> {
  const found = env.DB.prepare("select 1 from sqlite_master where type = 'table' and name = ?");
  return (await found.bind(name).first()) !== null;
}

/** Makes every write of a job to D1 fail until `findReadModel`. */
export async function loseReadModel(): Promise<void> {
  if (!(await hasTable("jobs"))) return;
  await env.DB.batch([
    env.DB.prepare("alter table jobs rename to jobs_out_of_reach"),
    env.DB.prepare("alter table accounts rename to accounts_out_of_reach"),
  ]);
}

/** Ends the outage. D1 has the rows from before. */
export async function findReadModel(): Promise<void> {
  if (await hasTable("jobs")) return;
  await env.DB.batch([
    env.DB.prepare("alter table jobs_out_of_reach rename to jobs"),
    env.DB.prepare("alter table accounts_out_of_reach rename to accounts"),
  ]);
}
