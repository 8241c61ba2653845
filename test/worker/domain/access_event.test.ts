import { describe, expect, it } from "vitest";
import {
  appAccessChanged,
  approvalDecided,
  connectionRevoked,
  limitReachedBy,
} from "../../../src/domain/access_event.ts";
import { isRegisteredClientId, splitClientId } from "../../../src/domain/oauth_client.ts";

const CLIENT = "demo~web";
const connection = { id: "c2", path: "c2 c1", client_id: CLIENT };
const at = { allowance_path: "c2 c1", app_slug: splitClientId(CLIENT).app_slug };
const named = { connection: { id: "c2", client_id: CLIENT } };

describe("events about access", () => {
  it("an event about a registered client is the app's, and one about a token or another client is of no app", () => {
    expect(isRegisteredClientId(CLIENT)).toBe(true);
    expect(connectionRevoked(connection, "holder")).toEqual({
      ...at,
      type: "connection.revoked",
      details: { ...named, by: "holder" },
    });
    for (const client_id of [null, "https://client.example/document"])
      expect(connectionRevoked({ ...connection, client_id }, "client").app_slug).toBeNull();
  });

  it("a decision names the job and the token", () => {
    const approval = { id: "a", app_slug: "other", action: "render", credits: 5 };
    const { app_slug: app, id, ...job } = approval;
    const details = { ...job, approval: id, app, token: { id: "c2", client_id: CLIENT } };
    expect(approvalDecided(connection, approval, true)).toEqual({
      ...at,
      type: "approval.approved",
      details,
    });
    expect(approvalDecided(connection, approval, false).type).toBe("approval.denied");
  });

  it("a limit that was reached has the time when it starts again, and a total limit has none", () => {
    const cap = { credits: 5, period: "day" } as const;
    expect(limitReachedBy(connection, cap, 0)).toEqual({
      ...at,
      type: "connection.limit_reached",
      details: { ...named, cap, resets_at: "1970-01-01T00:00:00.000Z" },
    });
    expect(limitReachedBy(connection, cap, null).details).toMatchObject({ resets_at: null });
  });

  it("an event about an app's access is of no allowance", () => {
    expect(appAccessChanged("access.stopped", "demo")).toEqual({
      type: "access.stopped",
      app_slug: "demo",
      allowance_path: null,
      details: { app: "demo" },
    });
  });
});
