/** A busy account that delivers through a queue, whose consumer runs less often than the account sends. */
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import type { ProjectionMessage } from "../../../src/readmodel/projector.ts";
import { consumeProjections } from "../../../src/readmodel/queue_projector.ts";
import { createDirectProjector } from "../../../src/readmodel/direct_projector.ts";
import { expectReadModel } from "../account/invariants.ts";
import { fireAlarm, useSettings } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";

const ADA = "ada";
const session = { kind: "holder" } as const;

describe("a busy account", () => {
  it.each(["repeated", "lost"])(
    "a busy account of which a message was %s soon sends each entry once again",
    async (what) => {
      const sent: ProjectionMessage[] = [];
      const send = (message: ProjectionMessage) => Promise.resolve(void sent.push(message));
      const account = env.ACCOUNT.getByName(ADA);
      passTime(3_600_000);
      await account.wallet(session, { app: null });
      await useSettings(ADA, { PROJECTIONS: { send } as never });
      const catchUp = vi.fn(() => account.catchUp());
      const consume = async (bodies: readonly ProjectionMessage[]) => {
        const messages = bodies.map((body) => ({
          id: "",
          timestamp: new Date(),
          attempts: 1,
          body: JSON.parse(JSON.stringify(body)) as ProjectionMessage,
          ack: vi.fn(),
          retry: vi.fn(),
        }));
        const options = {
          projector: createDirectProjector(env.DB),
          catchUp,
          countFailure: vi.fn(),
        };
        await consumeProjections({ queue: "passbook-projections", messages }, options);
      };
      const requested: number[] = [];
      for (let second = 0; second < 60; second += 1) {
        passTime(1_000);
        await account.adjustCredits({ amount: 1, note: "a gift" }, null);
        await fireAlarm(ADA);
        // A message is two seconds under way.
        const arrived = sent.splice(0, Math.max(0, sent.length - 2));
        catchUp.mockClear();
        if (second === 10 && what === "repeated") await consume([...arrived, ...arrived]);
        else if (second !== 10) await consume(arrived);
        requested.push(catchUp.mock.calls.length);
      }

      expect(requested.slice(20)).toEqual(requested.slice(20).map(() => 0));
      for (let left = 0; left < 5; left += 1) {
        await fireAlarm(ADA);
        await consume(sent.splice(0));
      }
      await expectReadModel(ADA);
    },
  );
});
