import { describe, expect, it } from "vitest";
import { Webhook as Verifier } from "standardwebhooks";
import { rows } from "../../../caller/app_server.ts";
import { signIn, signInWithCredits } from "../../../../support/passbook.ts";
import { passTime } from "../../../../support/clock.ts";
import { deliver, openReceiver } from "../../../../webhooks/receiver.ts";
import { openOwners, WEBHOOKS } from "./owner.ts";

const MAIN = `${WEBHOOKS}/main`;
const HOOK = { url: "https://receiver.test/hook", events: ["job.created"] };

/** The app with a webhook, its receiver, and a person whose account is open for the app. */
async function openDeliveries() {
  const { receiver } = await openReceiver();
  const owners = await openOwners();
  const { secret } = (await owners.server.send("PUT", MAIN, HOOK)).body;
  receiver.secret = secret;
  // Accounts learn of a new webhook within a minute.
  passTime(60_000);
  const ada = await signInWithCredits("sketch");
  const uid = String(
    (await rows("select uid from webhooks where app_slug = 'sketch'"))[0]?.["uid"],
  );
  const createJob = async (person = ada) => {
    // Later than the account's last delivery, so that it delivers at once and not by its alarm.
    passTime(2_000);
    return person.post("/api/jobs", { app: "sketch", action: "draw", cost_estimate: 1 });
  };
  return {
    ...owners,
    receiver,
    ada,
    createJob,
    deliverAll: () => deliver({ uid }, ada.identity_id),
  };
}

describe("the test of a webhook", () => {
  it("the test of a webhook sends one signed ping, also to a paused webhook, and returns status and time", async () => {
    const { server, receiver } = await openDeliveries();
    await server.send("PUT", MAIN, { ...HOOK, active: false, version: 1 });
    const tested = await server.send("POST", `${MAIN}/test`);
    expect(tested.body).toEqual({
      status: 200,
      duration_ms: expect.any(Number),
      error: null,
      response: null,
    });
    expect(receiver.types).toEqual(["ping"]);
    expect(receiver.received[0]?.body.data).toEqual({});
  });

  it("a test can send a sample of any event, also one that the webhook does not list", async () => {
    const { server, receiver } = await openDeliveries();
    const tested = await server.send("POST", `${MAIN}/test`, { type: "purchase.completed" });
    expect(tested.body).toMatchObject({ status: 200, error: null });
    expect(receiver.received[0]?.body).toMatchObject({ type: "purchase.completed", test: true });
    const unknown = await server.send("POST", `${MAIN}/test`, { type: "job.begun" });
    expect([unknown.status, unknown.body.code]).toEqual([400, "invalid_request"]);
  });

  it("only an operator with the role admin reads what the receiver responded", async () => {
    const { server, operator, receiver } = await openDeliveries();
    receiver.fail(500);
    expect((await operator.send("POST", `${MAIN}/test`)).body.response).toBe("failure");
    expect((await server.send("POST", `${MAIN}/test`)).body.response).toBeNull();
  });

  it("the test of a webhook returns why the receiver did not accept the ping, and nothing of its response", async () => {
    const { server, receiver } = await openDeliveries();
    receiver.fail(503);
    const failed = await server.send("POST", `${MAIN}/test`);
    expect(failed.body).toEqual({
      status: 503,
      duration_ms: expect.any(Number),
      error: "status_503",
      response: null,
    });
    receiver.respond = () => Promise.reject(new TypeError("refused"));
    const silent = await server.send("POST", `${MAIN}/test`);
    expect(silent.body).toMatchObject({ status: null, error: "unreachable" });
    expect((await server.send("POST", `${WEBHOOKS}/none/test`)).body.code).toBe(
      "webhook_not_found",
    );
  });

  it("a repeated test sends the same webhook-id, so that its receiver handles it once", async () => {
    const { server, receiver } = await openDeliveries();
    for (const key of ["one", "one", "two"]) {
      await server.send("POST", `${MAIN}/test`, {}, { "Idempotency-Key": key });
    }
    const [first, again, other] = receiver.received.map(({ id }) => id);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it("after a rotation a ping is signed with both secrets", async () => {
    const { server, receiver } = await openDeliveries();
    const { secret } = (await server.send("POST", `${MAIN}/rotate`)).body;
    const previous = receiver.secret;
    for (const known of [previous, secret]) {
      receiver.secret = known;
      expect((await server.send("POST", `${MAIN}/test`)).body.status).toBe(200);
    }
    expect(receiver.received.map(({ signatures }) => signatures.length)).toEqual([2, 2]);
    expect(() => new Verifier(secret)).not.toThrow();
  });
});

describe("the deliveries of a webhook", () => {
  it("the deliveries of a webhook list the event that an account waits for, until the webhook is active again and it is delivered", async () => {
    const { server, operator, receiver, ada, createJob, deliverAll } = await openDeliveries();
    receiver.fail();
    const { job_id } = (await createJob()).body;
    await deliverAll();
    const { deliveries } = (await server.send("GET", `${MAIN}/deliveries?status=failed`)).body;
    expect(deliveries).toEqual([
      {
        event_id: expect.stringMatching(/\.\d+\.job\.created$/),
        type: "job.created",
        identity_id: ada.identity_id,
        line: expect.any(Number),
        attempts: 1,
        status: "pending",
        last_error: "status_500",
        at: expect.any(String),
        retry_at: expect.any(String),
      },
    ]);
    const { body: listed } = await operator.get(WEBHOOKS);
    expect(listed.webhooks).toMatchObject([{ last_error: "status_500", last_success_at: null }]);
    receiver.recover();
    // The directory is told once a minute how deliveries go.
    passTime(60_000);
    await server.send("PUT", MAIN, { ...HOOK, active: true, version: 1 });
    await deliverAll();
    expect(receiver.received[0]?.body.data["job"].id).toBe(job_id);
    expect((await server.send("GET", `${MAIN}/deliveries`)).body.deliveries).toEqual([]);
    expect((await operator.get(WEBHOOKS)).body.webhooks[0].last_success_at).toMatch(/:00\.000Z$/);
  });

  it("the deliveries of a webhook are paged, and filtered by status", async () => {
    const { server, receiver, createJob } = await openDeliveries();
    receiver.fail();
    const uid = String(
      (await rows("select uid from webhooks where app_slug = 'sketch'"))[0]?.["uid"],
    );
    for (const email of ["bob@example.com", "eve@example.com"]) {
      const person = await signInWithCredits("sketch", email);
      await createJob(person);
      await deliver({ uid }, person.identity_id);
    }
    const first = (await server.send("GET", `${MAIN}/deliveries?limit=1&status=pending`)).body;
    const next = `${MAIN}/deliveries?limit=1&cursor=${encodeURIComponent(first.next_cursor)}`;
    const second = (await server.send("GET", next)).body;
    const people = [...first.deliveries, ...second.deliveries].map((it) => it.identity_id);
    expect(new Set(people).size).toBe(2);
    expect(second.next_cursor).toBeUndefined();
    expect((await server.send("GET", `${MAIN}/deliveries?status=lost`)).status).toBe(400);
    expect((await server.send("GET", `${WEBHOOKS}/none/deliveries`)).status).toBe(404);
  });
});

describe("the attempts of a webhook", () => {
  it("the attempts of a webhook show what became of an account's events, with the response for the role admin", async () => {
    const { server, operator, receiver, ada, createJob, deliverAll } = await openDeliveries();
    await createJob();
    await deliverAll();
    receiver.fail(502);
    await createJob();
    await deliverAll();
    const shown = (response: string | null) => [
      {
        at: expect.any(String),
        event_id: expect.stringMatching(/\.\d+\.job\.created$/),
        type: "job.created",
        identity_id: ada.identity_id,
        line: expect.any(Number),
        attempts: 1,
        status: 502,
        duration_ms: expect.any(Number),
        error: "status_502",
        response,
      },
      expect.objectContaining({ status: 200, error: null, response: null }),
    ];
    expect((await operator.get(`${MAIN}/attempts`)).body.attempts).toEqual(shown("failure"));
    expect((await server.send("GET", `${MAIN}/attempts`)).body.attempts).toEqual(shown(null));
    const of = (identity: string) => `${MAIN}/attempts?identity_id=${encodeURIComponent(identity)}`;
    expect((await server.send("GET", of(ada.identity_id))).body.attempts).toEqual(shown(null));
    expect((await operator.get(of("ada@example.com"))).body.attempts).toEqual(shown(null));
    // An app may not find out whose an address is.
    expect((await server.send("GET", of("ada@example.com"))).body.attempts).toEqual([]);
    const unknown = await operator.get(of("nobody@example.com"));
    expect([unknown.status, unknown.body.code]).toEqual([404, "account_unknown"]);
    expect((await server.send("GET", `${WEBHOOKS}/none/attempts`)).status).toBe(404);
  });
});

describe("the replay of an account's events", () => {
  it("a replay sends the events after a line again, with the same webhook-ids", async () => {
    const { server, operator, receiver, ada, createJob, deliverAll } = await openDeliveries();
    for (let jobs = 0; jobs < 2; jobs += 1) {
      await createJob();
      await deliverAll();
    }
    const [first, second] = receiver.received;
    const after_line = first?.body.data["line"];
    const by_server = { identity_id: ada.identity_id, after_line };
    expect((await server.send("POST", `${MAIN}/replay`, by_server)).body).toEqual({ ok: true });
    await deliverAll();
    expect(receiver.received.slice(2).map(({ id }) => id)).toEqual([second?.id]);
    const by_operator = { identity_id: "ada@example.com", after_line: 0 };
    expect((await operator.send("POST", `${MAIN}/replay`, by_operator)).status).toBe(200);
    await deliverAll();
    expect(receiver.received.slice(3).map(({ id }) => id)).toEqual([first?.id, second?.id]);
  });

  it("a replay of an account that is not open for the app tells an operator so, and what the holder can do", async () => {
    const { operator } = await openDeliveries();
    await (await signIn("eve@example.com")).get("/api/wallet");
    const body = { identity_id: "eve@example.com", after_line: 0 };
    expect(await operator.send("POST", `${MAIN}/replay`, body)).toMatchObject({
      status: 404,
      body: {
        code: "account_unknown",
        error:
          "No account with this identity is open for the app sketch. Check the identity. A holder opens an account by using the app: its page calls GET /api/wallet?app=sketch once with the person's own token. If they stopped the app, they can allow it again on /account/access.",
      },
    });
  });

  it("a replay of an account that was never opened for the app is 404 for the app's key, whether it exists or not", async () => {
    const { server, receiver, ada, deliverAll } = await openDeliveries();
    const eve = await signIn("eve@example.com");
    await eve.get("/api/wallet");
    for (const identity_id of [
      eve.identity_id,
      "user_nobody",
      "eve@example.com",
      "ada@example.com",
    ]) {
      const body = { identity_id, after_line: 0 };
      const response = await server.send("POST", `${MAIN}/replay`, body);
      expect(response).toMatchObject({ status: 404, body: { code: "account_unknown" } });
    }
    await deliverAll();
    expect(receiver.received).toEqual([]);
    const missing = { identity_id: ada.identity_id, after_line: 0 };
    const unknown = await server.send("POST", `${WEBHOOKS}/none/replay`, missing);
    expect(unknown.body.code).toBe("webhook_not_found");
    const wrong = await server.send("POST", `${MAIN}/replay`, { ...missing, after_line: -1 });
    expect(wrong.status).toBe(400);
  });
});

describe("the replay of all accounts", () => {
  it("names a time of the last seven days instead of an account, and shows until when it goes on", async () => {
    const { server, operator } = await openDeliveries();
    const replay = (body: object) => server.send("POST", `${MAIN}/replay`, body);
    const since = new Date(Date.now() - 60_000).toISOString();
    expect((await replay({ since, reason: "lost" })).body).toEqual({ ok: true });
    const listed = await server.send("GET", `${MAIN}/deliveries`);
    expect(listed.body).toEqual({ replays_since: since, deliveries: [] });
    const { entries } = (await operator.get("/api/admin/audit?act=app_webhook.replay")).body;
    expect(entries).toMatchObject([{ reason: "lost", details: { webhook_id: "main", since } }]);
    const DAY_MS = 24 * 60 * 60_000;
    const at = (ms: number) => new Date(Date.now() + ms).toISOString();
    const account = { identity_id: "user_1", after_line: 0 };
    for (const [body, problem] of [
      [{ since: at(60_000) }, "since must not be in the future"],
      [{ since: at(-7 * DAY_MS - 60_000) }, "since must be at most 7 days ago"],
      [{ since, ...account }, "since must not be given with identity_id"],
      [{}, "identity_id is missing"],
      [{ identity_id: "user_1" }, "after_line is missing"],
      [{ since, after_line: 1 }, "after_line must be given with identity_id, and only then"],
    ] as const) {
      const refused = await replay(body);
      expect(refused).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      expect(refused.body.error).toContain(problem);
    }
  });
});
