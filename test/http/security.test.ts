import { describe, expect, it } from "vitest";
import { send } from "../support/passbook.ts";

describe("without a caller", () => {
  it.each([
    ["GET", "/api/wallet"],
    ["GET", "/api/wallet?app=demo"],
    ["GET", "/api/jobs"],
    ["GET", "/api/jobs/018f0000-0000-7000-8000-000000000000"],
    ["GET", "/api/ledger"],
    ["POST", "/api/jobs"],
    ["POST", "/api/jobs/complete"],
    ["POST", "/api/jobs/fail"],
  ])("%s %s answers 401 and says how to authenticate", async (method, path) => {
    const answer = await send(method, path);
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({ error: expect.any(String), code: "unauthorized" });
    expect(answer.headers.get("WWW-Authenticate")).toBe("Bearer");
  });
});
