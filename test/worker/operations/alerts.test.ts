import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { failureCounterOf } from "../../../src/directory/failures.ts";
import { servicesFor, upkeepOf } from "../../../src/services.ts";
import { environmentWith } from "../support/passbook.ts";

const URL_OF_RECEIVER = "https://hooks.test/services/T0/secret-token";
const ALERTING = {
  ALERT_WEBHOOK_URL: URL_OF_RECEIVER,
  BASE_URL: "https://passbook.test",
  DEV_SIGNIN: "false",
};

interface Message {
  readonly text: string;
  readonly service: string | null;
  readonly status: string;
  readonly warnings: readonly { readonly name: string; readonly value: number }[];
  readonly recovered: readonly string[];
}

/** A receiver that accepts only what Slack's incoming webhooks do: JSON with a text, by POST. */
function openReceiver() {
  const messages: Message[] = [];
  let status = 200;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (request.url !== URL_OF_RECEIVER) throw new TypeError("not reachable");
    if (status === 302) {
      // A caller that follows the redirect would get "ok" from another server.
      return request.redirect === "manual" ? new Response(null, { status }) : new Response("ok");
    }
    if (status !== 200) return new Response("no_service", { status });
    if (request.method !== "POST") return new Response("invalid_method", { status: 405 });
    const message = (await request.json()) as Message;
    if (typeof message.text !== "string" || message.text === "") {
      return new Response("no_text", { status: 400 });
    }
    messages.push(message);
    return new Response("ok");
  });
  const output: unknown[] = [];
  for (const level of ["log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((line) => void output.push(line));
  }
  return { messages, output, answer: (next: number) => void (status = next) };
}

const run = (): Promise<void> => upkeepOf(environmentWith(ALERTING))();

function passMinutes(minutes: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes * 60_000 });
}

const failPayment = () =>
  failureCounterOf(env.DIRECTORY).count("payment_not_booked", { reason: "purchase_unmatched" });

describe("alerts", () => {
  it("a service without warnings sends no message", async () => {
    const { messages } = openReceiver();
    await run();
    await run();
    expect(messages).toEqual([]);
  });

  it("a warning is sent once, again after a day, and its end once", async () => {
    const { messages } = openReceiver();
    await failPayment();
    await run();
    passMinutes(10);
    await run();
    expect(messages).toHaveLength(1);
    const [first] = messages;
    expect(first).toMatchObject({
      service: "https://passbook.test",
      status: "warning",
      warnings: [{ name: "payments_not_booked", value: 1, reason: "purchase_unmatched" }],
      recovered: [],
    });
    expect(first?.text).toContain("WARNING payments_not_booked: 1 payments, limit 0");
    expect(first?.text).toContain("https://passbook.test/console");
    // A second failure keeps the warning for another day.
    passMinutes(23 * 60);
    await failPayment();
    await run();
    expect(messages).toHaveLength(1);
    passMinutes(60);
    await run();
    expect(messages).toHaveLength(2);
    passMinutes(24 * 60);
    await run();
    await run();
    expect(messages).toHaveLength(3);
    expect(messages[2]).toMatchObject({
      status: "ok",
      warnings: [],
      recovered: ["payments_not_booked"],
    });
  });

  /** Failed requests of the last minutes, as several isolates count them. */
  const failRequests = (count: number) =>
    failureCounterOf({ prepare: (query) => env.DIRECTORY.prepare(query) } as D1Database).count(
      "failed_request",
      { reason: "status_500", count },
    );
  const valuesOf = (messages: readonly Message[]) =>
    messages.flatMap(({ warnings }) => warnings.map(({ value }) => value));

  it("a warning is sent again when its value is ten times as high as in the last message", async () => {
    const { messages } = openReceiver();
    for (const more of [25, 6, 200, 19, 2250]) {
      await failRequests(more);
      await run();
    }
    expect(valuesOf(messages)).toEqual([25, 250, 2500]);
    expect(messages[1]?.text).toContain("WARNING failed_requests: 250 requests, limit 20");
  });

  it("a warning is sent again each hour while its value is above ten times its limit, and then each day", async () => {
    const { messages } = openReceiver();
    await failRequests(201);
    await run();
    for (let hour = 1; hour <= 3; hour += 1) {
      passMinutes(50);
      await failRequests(201);
      await run();
      passMinutes(10);
      await run();
    }
    expect(valuesOf(messages)).toEqual([201, 201, 201, 201]);
    passMinutes(19);
    await failRequests(21);
    for (let half_hour = 0; half_hour < 6; half_hour += 1) {
      passMinutes(15);
      await failRequests(21);
      await run();
    }
    expect(messages).toHaveLength(4);
  });

  it("a warning about a single payment is not sent again each hour", async () => {
    const { messages } = openReceiver();
    await failPayment();
    for (let hour = 0; hour < 5; hour += 1) {
      await run();
      passMinutes(60);
    }
    expect(messages).toHaveLength(1);
  });

  it("a message that the receiver did not accept is sent by the next run", async () => {
    const { messages, answer, output } = openReceiver();
    await failPayment();
    for (const status of [503, 302]) {
      answer(status);
      await run();
      expect(output).toContainEqual({ event: "alert_failed", reason: `status_${status}` });
    }
    answer(200);
    await run();
    expect(messages).toHaveLength(1);
  });

  it("warnings are sent while the directory's tables of alerts and failures do not respond", async () => {
    const { messages } = openReceiver();
    await env.DIRECTORY.exec("alter table alerts rename to alerts_away");
    await env.DIRECTORY.exec("alter table failures rename to failures_away");
    await expect(run()).rejects.toThrow("failures");
    expect(messages[0]?.text).toContain("WARNING failed_requests: unknown (directory_unreadable)");
  });

  it("warnings are sent if the run of the schedule cannot be recorded", async () => {
    const { messages, output } = openReceiver();
    await run();
    await failPayment();
    await env.DIRECTORY.exec(
      "create trigger full before update on scheduled_tasks begin select raise(abort, 'full'); end",
    );
    await run();
    expect(output).toContainEqual(expect.objectContaining({ event: "upkeep_record_failed" }));
    expect(messages[0]?.text).toContain("WARNING payments_not_booked: 1 payments");
  });

  it("each warning is logged in every run, also without a receiver, and the log never has the receiver's address", async () => {
    const { output, answer } = openReceiver();
    await failPayment();
    await upkeepOf(env)();
    const warning = {
      event: "health_limit_exceeded",
      figure: "payments_not_booked",
      value: 1,
      limit: 0,
      unit: "payments",
      reason: "purchase_unmatched",
    };
    expect(output).toContainEqual(warning);
    answer(500);
    await run();
    answer(200);
    await run();
    expect(output.filter((line) => JSON.stringify(line) === JSON.stringify(warning))).toHaveLength(
      3,
    );
    expect(output).toContainEqual({
      event: "alert_sent",
      warnings: ["payments_not_booked"],
      recovered: [],
    });
    expect(JSON.stringify(output)).not.toContain("secret-token");
    expect(JSON.stringify(output)).not.toContain("hooks.test");
  });

  it("one slow response of a store wakes nobody", async () => {
    const { messages } = openReceiver();
    const prototype = Object.getPrototypeOf(env.DIRECTORY) as { prepare: D1Database["prepare"] };
    const { prepare } = prototype;
    let failed = false;
    vi.spyOn(prototype, "prepare").mockImplementation(function (this: unknown, query) {
      if (!failed && query.includes("reason from failures")) {
        failed = true;
        throw new Error("D1_ERROR: network connection lost");
      }
      return Reflect.apply(prepare, this, [query]);
    });
    await run();
    expect([failed, messages]).toEqual([true, []]);
  });

  it("a receiver without https is refused, and the message does not quote its address", () => {
    const { output } = openReceiver();
    const services = servicesFor(
      environmentWith({ ALERT_WEBHOOK_URL: "http://hooks.test/secret-token" }),
    );
    expect(services).toMatchObject({
      ok: false,
      refusal: {
        problems: [{ variable: "ALERT_WEBHOOK_URL", problem: "must be an https address" }],
      },
    });
    expect(JSON.stringify([services, output])).not.toContain("secret-token");
  });
});
