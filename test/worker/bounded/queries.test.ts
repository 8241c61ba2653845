/** No query of the console, the API or the schedule reads more than 10,000 rows, however many there are. */
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { DAY_MS } from "../../../src/domain/calendar.ts";
import { upkeepOf } from "../../../src/services.ts";
import { SETTINGS } from "../http/api/admin/operators.ts";
import { IS_SLOW_CHECK } from "../support/histories.ts";
import { send, signIn } from "../support/passbook.ts";
import { insertManyRows, SOMEBODY } from "./many_rows.ts";
import { reportingReads } from "./rows_read.ts";

const ROWS_READ_MAX = 10_000;

const SIZE = IS_SLOW_CHECK
  ? { accounts: 200_000, jobs: 2_000_000, acts: 100_000 }
  : { accounts: 30_000, jobs: 60_000, acts: 30_000 };

const dayOf = (at_ms: number): string => new Date(at_ms).toISOString().slice(0, 10);
const NOW_MS = Date.now();
const [TODAY, TOMORROW, YEAR_AGO] = [0, 1, -360].map((days) => dayOf(NOW_MS + days * DAY_MS));
const MONTH = dayOf(NOW_MS).slice(0, 7);

const JOB_FILTERS = [
  "",
  "?app=app1",
  "?app=nothing",
  "?status=started",
  "?status=completed",
  "?by=somebody",
  `?identity_id=${SOMEBODY}`,
  `?from=${YEAR_AGO}T00:00:00Z&to=${TOMORROW}T00:00:00Z`,
  `?app=app1&from=${TODAY}T00:00:00Z&to=${TOMORROW}T00:00:00Z`,
  "?sort=cost",
  "?sort=cost&app=app1",
  "?sort=cost&status=completed",
  `?sort=cost&identity_id=${SOMEBODY}`,
];

const ACCOUNT_FILTERS = [
  "",
  "?order=asc",
  "?sort=credits",
  "?sort=credits&order=asc",
  "?state=active",
  "?state=suspended",
  "?state=active&sort=credits",
  "?state=suspended&sort=credits",
  "?app=demo",
  "?app=demo&sort=credits",
  "?domain=example.com",
  "?domain=example.com&sort=credits",
  `?created_from=${YEAR_AGO}`,
  `?created_from=${YEAR_AGO}&sort=credits`,
  "?q=person",
  "?q=person&sort=credits",
  `?q=${SOMEBODY}`,
  `?state=active&cursor=${NOW_MS}_00000007-0000-4000-8000-000000000000`,
];

const AUDIT_FILTERS = [
  "",
  "?act=nothing",
  "?actor=nobody",
  `?actor=${SOMEBODY}`,
  `?subject=${SOMEBODY}`,
  `?subject=${SOMEBODY}&act=nothing`,
  "?request_id=nothing",
];
const TIMES = (text: (day: string) => string) => [
  `?from=${text(dayOf(NOW_MS - 400 * DAY_MS))}&to=${text(dayOf(NOW_MS - 390 * DAY_MS))}`,
];

const each = (path: string, queries: readonly string[]) => queries.map((query) => path + query);

/** Pages and lists, with all of their filters and orders. */
const ADDRESSES: readonly string[] = [
  ...each("/api/admin/jobs", JOB_FILTERS),
  ...each("/console/jobs", [...JOB_FILTERS, `?day=${TODAY}`]),
  ...each("/api/admin/accounts", ACCOUNT_FILTERS),
  ...each("/console/accounts", ACCOUNT_FILTERS),
  ...each("/api/admin/audit", [...AUDIT_FILTERS, ...TIMES((day) => `${day}T00:00:00Z`)]),
  ...each("/console/audit", [...AUDIT_FILTERS, ...TIMES((day) => day)]),
  ...each("/console/audit.csv", AUDIT_FILTERS),
  ...each("/api/admin/stats", ["", `?from=${YEAR_AGO}`, `?from=${YEAR_AGO}&app=app1`]),
  ...each("/api/admin/money", ["", `?from=${YEAR_AGO}`, `?month=${MONTH}`]),
  ...each("/console/money.csv", [
    `?list=by_app&from=${YEAR_AGO}`,
    `?list=revenue&from=${YEAR_AGO}`,
    "?list=accounts",
    `?list=month&month=${MONTH}`,
  ]),
  ...each("/console/money", ["", `?from=${YEAR_AGO}`, `?month=${MONTH}`]),
  ...each("/console", ["", "?range=24h", "?app=app1", "?app=app1&range=24h", "?days=90"]),
  ...each("/console/search", [
    "?q=person",
    `?q=${SOMEBODY}`,
    "?q=018f0000-0000-7000-8000-000000000000",
  ]),
  "/console/accounts/suspend?app=demo",
  `/console/accounts/${SOMEBODY}`,
  `/api/admin/accounts/${SOMEBODY}`,
  `/api/admin/accounts/${SOMEBODY}/differences`,
  "/console/apps",
  "/console/apps/demo",
  "/console/apps/demo/oauth",
  "/console/apps/demo/webhooks",
  "/console/plans",
  "/console/differences",
  "/console/operators",
  "/console/requests",
  "/api/admin/archive",
  "/api/admin/differences",
  "/api/admin/health",
  "/api/admin/plans",
  "/api/admin/apps",
  "/api/admin/apps/demo/keys",
  "/api/admin/apps/demo/clients",
  "/api/admin/apps/demo/resources",
  "/api/admin/apps/demo/webhooks",
  "/api/admin/operators",
];

it(
  "no query of the console, the API or the schedule reads more than 10,000 rows",
  { tags: ["history"] },
  async () => {
    vi.spyOn(console, "log").mockReturnValue();
    vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(console, "error").mockReturnValue();
    await insertManyRows(SIZE, NOW_MS);
    let place = "";
    const most = new Map<string, number>();
    const report = (query: string, rows_read: number): void => {
      if (rows_read <= ROWS_READ_MAX) return;
      const key = `${place}: ${query.replaceAll(/\s+/g, " ").slice(0, 160)}`;
      most.set(key, Math.max(rows_read, most.get(key) ?? 0));
    };
    const settings = {
      ...SETTINGS,
      DB: reportingReads(env.DB, report),
      DIRECTORY: reportingReads(env.DIRECTORY, report),
    };
    const olga = await signIn("olga@example.com", settings);
    const headers = { Cookie: olga.cookies, Origin: "http://passbook.localhost" };
    place = "the schedule";
    const environment = { ...env, ...settings };
    await upkeepOf(environment)();
    await upkeepOf(environment)();
    const statuses: [string, number][] = [];
    for (const address of ADDRESSES) {
      place = address;
      const { status } = await send("GET", address, { headers }, settings);
      if (status >= 400) statuses.push([address, status]);
    }
    expect(statuses).toEqual([]);
    expect(Object.fromEntries(most)).toEqual({});
  },
);
