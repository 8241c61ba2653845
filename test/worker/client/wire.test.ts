import { expect, it } from "vitest";
import * as client from "../../../src/client/index.ts";
import { JOB_STATUSES } from "../../../src/domain/job.ts";
import { REFUSAL_STATUS } from "../../../src/domain/refusal_codes.ts";
import { ENTRY_KINDS } from "../../../src/domain/ledger.ts";

it("the client knows every kind of ledger line and every status of a job", () => {
  expect(client.ENTRY_KINDS).toEqual(ENTRY_KINDS);
  expect(client.JOB_STATUSES).toEqual(JOB_STATUSES);
});

it("the client knows every error code of the service", () => {
  expect(client.SERVICE_ERROR_CODES).toEqual(Object.keys(REFUSAL_STATUS));
  expect(client.SERVICE_ERROR_CODES).toContain("insufficient_credits");
});
