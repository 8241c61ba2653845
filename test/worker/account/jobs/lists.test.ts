/** Lists of jobs in pages, at the account itself. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { JOB_REQUEST } from "../../support/allowances.ts";

const HOLDER = { kind: "holder" } as const;
const account = () => env.ACCOUNT.getByName("ada");

const create = (app_slug: string) =>
  account().createJob(HOLDER, { ...JOB_REQUEST, app_slug }, null);

async function read(filter: Parameters<ReturnType<typeof account>["listJobs"]>[1]) {
  const page = await account().listJobs(HOLDER, filter);
  return page.ok ? page.value : expect.fail("refused");
}

it.each([1, 2, 3, 4])(
  "a list with a filter has each of three jobs once, in pages of %i",
  async (limit) => {
    for (const app_slug of ["demo", "other", "demo", "demo"]) await create(app_slug);
    const all = (await read({ limit: 10 })).rows.filter((it) => it.app_slug === "demo");
    const seen: string[] = [];
    let before_id: string | undefined;
    do {
      const filter = { app_slug: "demo", limit, ...(before_id !== undefined && { before_id }) };
      const { rows, next } = await read(filter);
      seen.push(...rows.map(({ id }) => id));
      before_id = next ?? undefined;
    } while (before_id !== undefined);
    expect(all).toHaveLength(3);
    expect(seen).toEqual(all.map(({ id }) => id));
  },
);
