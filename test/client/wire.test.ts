import { expect, it } from "vitest";
import * as client from "../../src/client/index.ts";
import { JOB_STATUSES } from "../../src/domain/job.ts";
import { ENTRY_KINDS } from "../../src/domain/ledger.ts";

it("the client knows every kind of ledger line and every status of a job", () => {
  expect(client.ENTRY_KINDS).toEqual(ENTRY_KINDS);
  expect(client.JOB_STATUSES).toEqual(JOB_STATUSES);
});
