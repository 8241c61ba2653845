import { describe, expect, it } from "vitest";
import {
  ADA,
  accountOf,
  completeJob,
  createJob,
  deliver,
  HOLDER,
  openAccount,
  openReceiver,
} from "./receiver.ts";

describe("the events of an account", () => {
  it("an app receives the life of its jobs, with the balance after each entry", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    const job_id = await createJob(30);
    await completeJob(job_id, 20);
    await deliver(webhook);
    const [{ id: account_id }] = await account();
    const data = { identity_id: ADA };
    expect(receiver.received).toMatchObject([
      {
        id: `${account_id}.2.credits.granted`,
        body: { type: "credits.granted", data: { ...data, line: 2, credits: 100, held: 0 } },
      },
      {
        id: `${account_id}.3.job.created`,
        body: {
          type: "job.created",
          data: { line: 3, credits: 70, held: 30, job: { id: job_id } },
        },
      },
      {
        id: `${account_id}.4.job.completed`,
        body: {
          type: "job.completed",
          data: { line: 4, credits: 80, held: 0, job: { actual_cost: 20 } },
        },
      },
    ]);
    expect(Object.keys(receiver.received[0]?.body ?? {})).toEqual(["type", "timestamp", "data"]);
  });
});

async function account(): Promise<[{ id: string }]> {
  const answer = await accountOf().wallet(HOLDER, { app: null });
  return answer.ok ? [answer.value.account] : expect.fail("refused");
}
