/** Receivers of webhooks that respond with whatever an attacker wants. */
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { passTime } from "../support/clock.ts";
import { histories } from "../support/histories.ts";
import {
  completeJob,
  createJob,
  deliver,
  evictSender,
  openAccount,
  openReceiver,
  saveWebhook,
} from "../webhooks/receiver.ts";
import { hostileResponses, Network, type HostileResponse } from "./network.ts";
import { noteReadNames } from "./pages.ts";
import { MARK } from "./values.ts";

const REQUESTS = Number(env.TEST_GENERATED_REQUESTS);
/** The beginning of a response that operators see, to the end of the chunk, and one more on its way. */
const READ_MAX_BYTES = 1024 + 2 * 16 * 1024;
const NEXT_ATTEMPT_MS = 60 * 60_000;

it(
  "no response of a receiver keeps an event from arriving in order, is logged, or is read without a limit",
  { tags: ["history"], timeout: 1_200_000 },
  async () => {
    const { receiver, webhook, output } = await openReceiver();
    const network = new Network();
    const names = noteReadNames();
    await openAccount(1_000_000);
    network.serve = (request) => receive(request);
    // The receiver of `openReceiver` checks signatures and notes what it accepted.
    const receive = async (request: Request): Promise<Response> => {
      receiver.requests.push(request.clone());
      const { type, data } = JSON.parse(await request.text());
      arrived.push({ type, line: data.line });
      return new Response("ok");
    };
    const arrived: { type: string; line: number }[] = [];
    await deliver(webhook);
    expect(arrived).toHaveLength(1);
    const rule = async (hostile: HostileResponse): Promise<void> => {
      output.length = 0;
      arrived.length = 0;
      network.begin({ ...hostile, call: 0 });
      await completeJob(await createJob(2), 1);
      await deliver(webhook);
      // A webhook is paused if its receiver is gone. An operator ends that.
      await saveWebhook({ active: true });
      network.begin(null);
      passTime(NEXT_ATTEMPT_MS);
      await deliver(webhook);
      const lines = arrived.map(({ line }) => line);
      const sorted = lines.toSorted((one, other) => one - other);
      expect(lines).toEqual(sorted);
      expect(new Set(arrived.map(({ type }) => type))).toEqual(
        new Set(["job.created", "job.completed"]),
      );
      expect(network.bytes).toBeLessThanOrEqual(READ_MAX_BYTES);
      expect(JSON.stringify(output)).not.toContain(MARK);
    };
    const read = [...names.headers].filter((name) => !/^(cookie|cf-)/i.test(name));
    await fc.assert(
      fc.asyncProperty(hostileResponses(["Location", "Retry-After", ...read]), rule),
      {
        numRuns: histories(REQUESTS / 4),
        endOnFailure: true,
      },
    );
    await evictSender(webhook);
  },
);
