/**
 * The queries of metrics run as SQL: on SQLite, with the functions of Cloudflare's Analytics Engine that they use. What a Worker
 * writes is what an operator reads.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  createAnalyticsEngine,
  createMetricsReader,
} from "../../../src/metrics/analytics_engine.ts";
import { createRememberedRequests } from "../../../src/metrics/remembered_requests.ts";
import type { RequestPoint } from "../../../src/domain/request_metrics.ts";

const BLOBS = 9;
const DOUBLES = 4;
const NOW_MS = Date.UTC(2026, 10, 27, 12);

const columns = [
  "timestamp",
  "_sample_interval",
  ...Array.from({ length: BLOBS }, (_, at) => `blob${at + 1}`),
  ...Array.from({ length: DOUBLES }, (_, at) => `double${at + 1}`),
];
const database = new DatabaseSync(":memory:");
let server: Server;
let api_url: string;

beforeAll(async () => {
  database.exec(`create table passbook_requests (${columns.join(", ")})`);
  database.function("toDateTime", (seconds) => seconds);
  database.aggregate("quantile", {
    start: () => [] as [number, number, number][],
    step: (all: [number, number, number][], share: number, value: number, weight: number) => [
      ...all,
      [share, value, weight] as [number, number, number],
    ],
    result: (all: [number, number, number][]) => {
      const values = all.flatMap(([, value, weight]) => Array<number>(weight).fill(value));
      const sorted = values.toSorted((one, other) => one - other);
      return sorted[Math.ceil((all[0]?.[0] ?? 0) * sorted.length) - 1] ?? null;
    },
  } as never);
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const sql = body
        .replace(/ format JSON$/, "")
        .replaceAll("if(", "iif(")
        .replaceAll(/quantileExactWeighted\(([\d.]+)\)\(/g, "quantile($1, ");
      response.end(JSON.stringify({ data: database.prepare(sql).all() }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  api_url = `http://localhost:${(server.address() as AddressInfo).port}`;
});

afterAll(() => server.close());

function write(point: RequestPoint): void {
  const engine = createAnalyticsEngine({
    writeDataPoint({ blobs, doubles }) {
      expect([blobs.length, doubles.length]).toEqual([BLOBS, DOUBLES]);
      const values = [Math.floor(point.at_ms / 1000), 1, ...blobs, ...doubles];
      const marks = values.map(() => "?").join(", ");
      database.prepare(`insert into passbook_requests values (${marks})`).run(...values);
    },
  });
  engine.record(point);
}

const point = (number: number): RequestPoint => ({
  at_ms: NOW_MS - number * 60_000,
  request_id: `ray-${number}`,
  method: number % 3 === 0 ? "POST" : "GET",
  route: number % 5 === 0 ? null : `/api/${number % 3}`,
  status: [200, 200, 429, 500, 402][number % 5] ?? 200,
  code: number % 5 === 4 ? "insufficient_credits" : null,
  app: number % 2 === 0 ? "demo" : null,
  caller: "session",
  account: number % 7 === 0 ? "pseudonym_-1" : null,
  release: "one",
  colo: "FRA",
  duration_ms: (number * 37) % 101,
  account_calls: number % 3,
});

it("what the Worker writes is read as the memory of a local service has it", async () => {
  const remembered = createRememberedRequests();
  const reader = createMetricsReader({
    api_url,
    account_id: "0",
    token: "t",
    dataset: "passbook_requests",
  });
  for (let number = 200; number >= 0; number -= 1) {
    write(point(number));
    remembered.record(point(number));
  }
  const hour = NOW_MS - 3_600_000;
  expect(await reader.readSums(hour)).toEqual(await remembered.readSums(hour));
  expect((await reader.readSums(hour)).requests).toBe(61);
  const byName = (one: { method: string; route: string | null }) => `${one.method} ${one.route}`;
  const sorted = <Row extends { method: string; route: string | null }>(rows: readonly Row[]) =>
    rows.toSorted((one, other) => (byName(one) < byName(other) ? -1 : 1));
  expect(sorted(await reader.listRoutes(hour))).toEqual(sorted(await remembered.listRoutes(hour)));
  for (const filter of [
    {},
    { request_id: "ray-7" },
    { app: "demo" },
    { accounts: ["pseudonym_-1", "older"], from_ms: NOW_MS - 5_000_000, to_ms: NOW_MS - 60_000 },
    { request_id: "ray-7", app: "other" },
    { app: "demo' or '1' = '1" },
  ]) {
    expect(await reader.list(filter), JSON.stringify(filter)).toEqual(
      await remembered.list(filter),
    );
  }
});

it("the traffic has each request once, by service, release and app, in the windows that it is in", async () => {
  database.exec("delete from passbook_requests");
  const counted = (minutes: number, route: string | null, status: number, more = {}) =>
    write({ ...point(1), at_ms: NOW_MS - minutes * 60_000, route, status, ...more });
  counted(4, "/api/jobs/:id", 500, { app: "demo" });
  counted(29, "/api/wallet", 503, { app: "demo" });
  counted(59, "/api/ledger", 429, { app: "demo" });
  counted(359, "/api/jobs", 507, { app: "demo" });
  counted(361, "/api/jobs", 500, { app: "demo" });
  counted(59, "/signin/callback/:id", 502, { release: "two" });
  counted(61, "/oauth/token", 429, { release: "two" });
  counted(1, "/account", 200);
  counted(1, null, 404);
  const reader = createMetricsReader({
    api_url,
    account_id: "0",
    token: "t",
    dataset: "passbook_requests",
  });
  const traffic = (await reader.readTraffic?.(NOW_MS)) ?? [];
  expect(traffic.toSorted((one, other) => (one.service < other.service ? 1 : -1))).toEqual([
    {
      service: "wallet_and_jobs",
      release: "one",
      app: "demo",
      requests: [1, 2, 3, 4],
      // Not the 507, which one account causes.
      failed: [1, 2, 2, 2],
      limited: 1,
    },
    {
      service: "signin",
      release: "two",
      app: null,
      requests: [0, 0, 1, 2],
      failed: [0, 0, 1, 1],
      limited: 0,
    },
    {
      service: "other",
      release: "one",
      app: null,
      requests: [2, 2, 2, 2],
      failed: [0, 0, 0, 0],
      limited: 0,
    },
  ]);
});
