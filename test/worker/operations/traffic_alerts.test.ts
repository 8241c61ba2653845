/** Alerts by ratio: each fires, fires again when it grows, and ends. */
import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { failureCounterOf } from "../../../src/directory/failures.ts";
import { EACH_MINUTE } from "../../../src/domain/error_budget.ts";
import { upkeepOf } from "../../../src/services.ts";
import worker from "../../../src/worker.ts";
import { openConsole, words } from "../web/console/pages.ts";
import { environmentWith } from "../support/passbook.ts";

const RECEIVER = "https://hooks.test/services/T0/secret-token";
const READER = { account_id: "0123456789abcdef0123456789abcdef", token: "a-token-of-cloudflare" };
const ALERTING = { ALERT_WEBHOOK_URL: RECEIVER, BASE_URL: "https://passbook.test" };
const ALERTING_BY_RATIO = {
  ...ALERTING,
  DEV_SIGNIN: "false",
  METRICS_READER: JSON.stringify(READER),
};

interface Message {
  readonly text: string;
  readonly status: string;
  readonly warnings: readonly {
    readonly name: string;
    readonly value: number | null;
    readonly reason: string | null;
  }[];
  readonly recovered: readonly string[];
}

/** Requests and failures of one service, release and app, in each window. */
interface Row {
  readonly service?: string;
  readonly release?: string;
  readonly app?: string;
  readonly requests: number;
  readonly failed?: number;
  readonly limited?: number;
  /** The failures of the shorter windows; as many by default. */
  readonly recent?: number;
}

/** The row as Cloudflare gives it: a count has 64 bits, so it is text. */
function rowOf({ service = "wallet_and_jobs", requests, failed = 0, ...more }: Row) {
  const { release = "", app = "", limited = 0, recent = failed } = more;
  const counts = [0, 1, 2, 3].flatMap((at) => [
    [`requests_${at}`, String(requests)],
    [`failed_${at}`, String(at < 2 ? recent : failed)],
  ]);
  const row = { service, release, app, limited: String(limited) };
  return { ...row, ...Object.fromEntries(counts) } as Record<string, string>;
}

/** Cloudflare's metrics and the receiver of alerts. */
function open() {
  const messages: Message[] = [];
  const queries: string[] = [];
  let rows: readonly Row[] | number = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (request.url === RECEIVER) {
      messages.push(await request.json<Message>());
      return new Response("ok");
    }
    expect(request.url).toContain(`/accounts/${READER.account_id}/analytics_engine/sql`);
    queries.push(await request.text());
    return typeof rows === "number"
      ? new Response("no", { status: rows })
      : Response.json({ data: rows.map(rowOf) });
  });
  for (const level of ["log", "warn", "error"] as const) vi.spyOn(console, level).mockReturnValue();
  return { messages, queries, serve: (next: readonly Row[] | number) => void (rows = next) };
}

function passMinutes(minutes: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes * 60_000 });
}

/** One run of the check of each minute. */
async function checkMinute(settings: object = ALERTING_BY_RATIO): Promise<void> {
  passMinutes(1);
  const controller = createScheduledController({ cron: EACH_MINUTE });
  await worker.scheduled(controller, environmentWith(settings));
}

/** As another isolate counts them: this one writes once a minute. */
const failRequests = (count: number) =>
  failureCounterOf({ prepare: (query) => env.DIRECTORY.prepare(query) } as D1Database).count(
    "failed_request",
    { reason: "status_500", count },
  );

const namesOf = ({ warnings }: Message) => warnings.map(({ name }) => name);

describe("alerts by ratio", () => {
  it("failing requests are a warning within a minute, which names release and app, is sent again when tenfold, and ends", async () => {
    const { messages, serve } = open();
    serve([{ requests: 100_000, failed: 700 }]);
    await checkMinute();
    // 0.7% is 14 times 0.05%.
    expect(messages.map(namesOf)).toEqual([["slow_burn"]]);
    serve([
      { requests: 90_000, failed: 100, release: "old" },
      { requests: 9_000, failed: 800, release: "new", app: "paint" },
      { requests: 1_000, failed: 100, release: "new", app: "demo" },
    ]);
    await checkMinute();
    expect(messages[1]?.warnings).toMatchObject([
      {
        name: "fast_burn",
        value: 20,
        reason: "wallet_and_jobs 20 times: release new (90%), app paint (80%)",
      },
    ]);
    expect(messages[1]?.text).toContain("WARNING fast_burn: 20 times, limit 14.4 (wallet_and_jobs");
    await checkMinute();
    serve([{ requests: 100_000, failed: 9_900 }]);
    await checkMinute();
    expect(messages).toHaveLength(3);
    expect(namesOf(messages[2] as Message)).toEqual(["slow_burn"]);
    serve([{ requests: 100_000, failed: 10_000 }]);
    await checkMinute();
    expect(messages[3]?.warnings).toMatchObject([{ name: "fast_burn", value: 200 }]);
    // The cause has ended: an hour still has the failures, and five minutes have none.
    serve([{ requests: 100_000, failed: 10_000, recent: 0 }]);
    passMinutes(15);
    await checkMinute();
    expect(messages[4]).toMatchObject({ status: "ok", recovered: ["fast_burn", "slow_burn"] });
    await checkMinute();
    expect(messages).toHaveLength(5);
  });

  it("a burn rate that moves around its limit sends one warning, and its end when a quarter of an hour has passed", async () => {
    const { messages, serve } = open();
    for (let minute = 0; minute <= 14; minute += 1) {
      serve([{ requests: 100_000, failed: minute % 2 === 0 ? 1_000 : 0 }]);
      await checkMinute();
    }
    expect(messages.map(namesOf)).toEqual([["fast_burn", "slow_burn"]]);
    serve([]);
    await checkMinute();
    expect(messages[1]?.recovered).toEqual(["fast_burn", "slow_burn"]);
  });

  it("the end of one warning does not say that all is fine while another is open", async () => {
    const { messages, serve } = open();
    serve([{ requests: 100_000, failed: 700 }]);
    await checkMinute();
    passMinutes(10);
    serve([{ requests: 94_000 }, { requests: 6_000, limited: 6_000 }]);
    await checkMinute();
    passMinutes(4);
    serve([]);
    await checkMinute();
    expect(messages.at(-1)).toMatchObject({ status: "warning", recovered: ["slow_burn"] });
    passMinutes(15);
    await checkMinute();
    expect(messages.at(-1)).toMatchObject({ status: "ok", recovered: ["limited_requests"] });
  });

  it("a service of few requests does not hide behind one of many, and 20 failures wake nobody", async () => {
    const { messages, serve } = open();
    const many = { requests: 10_000_000, failed: 100 };
    serve([many, { service: "signin", requests: 40, failed: 20 }]);
    await checkMinute();
    expect(messages).toEqual([]);
    serve([many, { service: "signin", requests: 42, failed: 21 }]);
    await checkMinute();
    expect(messages[0]?.warnings[0]).toMatchObject({ name: "fast_burn", value: 500 });
    expect(messages[0]?.warnings[0]?.reason).toContain("signin 500 times");
  });

  it("many 429 are a warning, are sent again when they are half of all requests, and end", async () => {
    const { messages, serve } = open();
    serve([{ requests: 101, limited: 100 }]);
    await checkMinute();
    serve([{ requests: 10_000, limited: 500 }]);
    await checkMinute();
    expect(messages).toEqual([]);
    for (const limited of [600, 5_200, 5_300]) {
      serve([
        { requests: 10_000 - limited, app: "demo" },
        { requests: limited, limited, app: "paint", release: "one" },
      ]);
      await checkMinute();
    }
    const values = messages.flatMap(({ warnings }) => warnings);
    expect(values).toMatchObject([
      { name: "limited_requests", value: 6, reason: "release one (100%), app paint (100%)" },
      { name: "limited_requests", value: 53 },
    ]);
    serve([{ requests: 10_000, limited: 500 }]);
    passMinutes(15);
    await checkMinute();
    expect(messages.at(-1)).toMatchObject({ status: "ok", recovered: ["limited_requests"] });
  });

  it("metrics that cannot be read are a warning, and one failed query is not", async () => {
    const { messages, queries, serve } = open();
    serve(503);
    await checkMinute();
    expect(queries).toHaveLength(2);
    expect(messages[0]?.text).toContain("WARNING fast_burn: unknown (metrics_unreadable)");
    serve([]);
    passMinutes(15);
    await checkMinute();
    expect(messages[1]?.recovered).toEqual(["fast_burn", "slow_burn", "limited_requests"]);
  });

  it("a warning whose value was unknown is sent again once its value is known", async () => {
    const { messages, serve } = open();
    serve(503);
    await checkMinute();
    serve([{ requests: 100_000, failed: 1_000 }]);
    passMinutes(15);
    await checkMinute();
    expect(messages[1]?.warnings).toMatchObject([
      { name: "fast_burn", value: 20 },
      { name: "slow_burn", value: 20 },
    ]);
    expect(messages[1]?.recovered).toEqual(["limited_requests"]);
    for (const next of [503, [{ requests: 100_000, failed: 1_000 }]] as const) {
      serve(next);
      await checkMinute();
    }
    expect(messages.slice(2).flatMap(namesOf)).toEqual(["limited_requests"]);
  });

  it("the check of each minute and the schedule keep each other's warnings, and the status is that of both", async () => {
    const { messages, serve } = open();
    await failureCounterOf(env.DIRECTORY).count("payment_not_booked", { reason: "one" });
    serve([{ requests: 1_000, failed: 500 }]);
    await checkMinute();
    const schedule = upkeepOf(environmentWith(ALERTING_BY_RATIO));
    await schedule();
    await checkMinute();
    await schedule();
    expect(messages.map(namesOf)).toEqual([["fast_burn", "slow_burn"], ["payments_not_booked"]]);
    serve([]);
    passMinutes(15);
    await checkMinute();
    expect(messages[2]).toMatchObject({
      status: "warning",
      recovered: ["fast_burn", "slow_burn"],
    });
  });

  it("without metrics the check of each minute reads nothing, and failed requests keep their limit", async () => {
    const { messages, queries } = open();
    const prepare = vi.spyOn(Object.getPrototypeOf(env.DIRECTORY), "prepare");
    await checkMinute({ ...ALERTING, DEV_SIGNIN: "false" });
    expect([queries, prepare.mock.calls]).toEqual([[], []]);
    await failRequests(30);
    await upkeepOf(environmentWith({ ...ALERTING, DEV_SIGNIN: "false" }))();
    expect(messages.map(namesOf)).toEqual([["failed_requests"]]);
  });

  it("with metrics an absolute number of failed requests wakes nobody", async () => {
    const { messages, serve } = open();
    serve([{ requests: 1_000_000, failed: 30 }]);
    await failRequests(30);
    await upkeepOf(environmentWith(ALERTING_BY_RATIO))();
    await checkMinute();
    expect(messages).toEqual([]);
  });

  it("failed requests keep their limit while the metrics are empty, because the binding is missing, or unreadable", async () => {
    const { messages, serve } = open();
    await failRequests(30);
    await upkeepOf(environmentWith(ALERTING_BY_RATIO))();
    expect(messages.map(namesOf)).toEqual([["failed_requests"]]);
    serve([{ requests: 10 }]);
    passMinutes(15);
    await upkeepOf(environmentWith(ALERTING_BY_RATIO))();
    expect(messages[1]?.recovered).toEqual(["failed_requests"]);
    serve(503);
    await upkeepOf(environmentWith(ALERTING_BY_RATIO))();
    expect(messages.map(namesOf)).toEqual([["failed_requests"], [], ["failed_requests"]]);
  });

  it("a removed METRICS_READER ends the warnings that came from it", async () => {
    const { messages, serve } = open();
    serve([{ requests: 1_000, failed: 500 }]);
    await checkMinute();
    passMinutes(15);
    await upkeepOf(environmentWith({ ...ALERTING, DEV_SIGNIN: "false" }))();
    expect(messages[1]).toMatchObject({ status: "ok", recovered: ["fast_burn", "slow_burn"] });
  });

  it("the console shows figures that are not set up, without a warning", async () => {
    open();
    const { open: openPage } = await openConsole();
    await upkeepOf(env)();
    const shown = words((await openPage("/console")).text);
    expect(shown).toContain("Everything is within its limits");
    expect(shown).toContain("Failing requests, fast in an hour not set limit 14.4");
  });
});

describe("the size of the databases", () => {
  it("a filling database is a warning, is sent again when half of what was left is used, and ends", async () => {
    const { messages } = open();
    let [directory, read_model] = [7e9, 1e9];
    const sized = (database: D1Database, bytes: () => number): D1Database =>
      new Proxy(database, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (name !== "prepare")
            return typeof member === "function" ? member.bind(target) : member;
          return (query: string) =>
            query === "select 1"
              ? { run: async () => ({ meta: { size_after: bytes() } }) }
              : target.prepare(query);
        },
      });
    const run = () => {
      passMinutes(10);
      return upkeepOf(
        environmentWith({
          ...ALERTING,
          DEV_SIGNIN: "false",
          DIRECTORY: sized(env.DIRECTORY, () => directory),
          DB: sized(env.DB, () => read_model),
        }),
      )();
    };
    await run();
    expect(messages).toEqual([]);
    for (const next of [7.2e9, 8.5e9, 8.6e9]) {
      directory = next;
      await run();
    }
    expect(messages.flatMap(({ warnings }) => warnings)).toMatchObject([
      { name: "database_size", value: 72, reason: "DIRECTORY 72%, DB 10%" },
      { name: "database_size", value: 86 },
    ]);
    [directory, read_model] = [1e9, 9.9e9];
    await run();
    expect(messages[2]?.warnings).toMatchObject([{ value: 99, reason: "DIRECTORY 10%, DB 99%" }]);
    read_model = 1e9;
    passMinutes(5);
    await run();
    expect(messages[3]).toMatchObject({ status: "ok", recovered: ["database_size"] });
  });

  it("D1 tells the size of a database", async () => {
    const { meta } = await env.DB.prepare("select 1").run();
    expect(meta.size_after).toBeGreaterThan(0);
  });
});
