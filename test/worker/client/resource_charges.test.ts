import { describe, expect, it } from "vitest";
import {
  createProtectedResource,
  isPassbookError,
  PassbookError,
} from "../../../src/client/resource/index.ts";
import { createApprovals } from "../../../src/client/resource/approvals.ts";
import type { Fetch } from "../../../src/client/index.ts";
import { AS_OWNER, connectToResource, openChargingApp, setCharges } from "../support/charging.ts";
import { passTime } from "../support/clock.ts";
import { fromOwnPage } from "../support/device_logins.ts";
import { connect, RESOURCE } from "../support/oauth_clients.ts";
import { BASE_URL, send, signIn, type SignedIn } from "../support/passbook.ts";
import { workerFetch } from "./worker_fetch.ts";

const JOB = { action: "draw", costEstimate: 20 };

/** The resource's server, and the paths that it has requested. */
function openServer(changed: object = {}) {
  const paths: string[] = [];
  const fetch: Fetch = async (url, init) => {
    paths.push(new URL(url).pathname);
    return workerFetch(url, init);
  };
  const client = { id: AS_OWNER.client_id, secret: AS_OWNER.client_secret };
  const options = { baseUrl: BASE_URL, resource: RESOURCE, scopes: ["tools"], client, fetch };
  return { paths, resource: createProtectedResource({ ...options, ...changed }) };
}

const bearer = (token: string): Request =>
  new Request(RESOURCE, { headers: { Authorization: `Bearer ${token}` } });

async function endConnection(person: SignedIn): Promise<void> {
  const [connection] = (await person.getOwn("/api/tokens")).body.tokens;
  const headers = fromOwnPage(person);
  await send("DELETE", `/api/tokens/${connection.id}`, { headers });
}

/** The error of a promise. */
async function errorOf(promise: Promise<unknown>): Promise<PassbookError> {
  const error: unknown = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (isPassbookError(error)) return error;
  throw new Error(`no refusal: ${String(error)}`);
}

describe("charge", () => {
  it("exchanges the token of a request once, reserves, runs the work and settles at its cost", async () => {
    await openChargingApp();
    const ada = await signIn();
    const { access_token } = await connectToResource(ada);
    const { resource, paths } = openServer();
    const charge = async (request: Request | { token: string }) =>
      resource.charge(request, JOB, async ({ credits }) => ({ result: credits, actualCost: 12 }));
    const first = await charge(bearer(access_token));
    expect(first).toMatchObject({ result: null, job: { app_slug: "sketch", actual_cost: 12 } });
    expect((await charge({ token: access_token })).job.status).toBe("completed");
    expect(paths.filter((path) => path === "/oauth/token")).toHaveLength(1);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(76);
  });

  it("work that fails costs nothing, and its error is not shown to the person", async () => {
    await openChargingApp();
    const ada = await signIn();
    const { access_token } = await connectToResource(ada);
    const failed = openServer().resource.charge({ token: access_token }, JOB, async () => {
      throw new Error("the database of 10.0.0.1 is down");
    });
    await expect(failed).rejects.toThrow("10.0.0.1");
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    const [job] = (await ada.get("/api/jobs")).body.jobs;
    expect(job).toMatchObject({ status: "failed", failure_reason: null });
  });

  it("a limit that is used up is an error with the address where the person can allow the job", async () => {
    await openChargingApp();
    const { access_token } = await connectToResource(await signIn(), 10);
    const work = async () => ({ result: "never", actualCost: 1 });
    const error = await errorOf(openServer().resource.charge({ token: access_token }, JOB, work));
    expect(error).toMatchObject({ code: "token_budget_exceeded", status: 402 });
    expect(error.body["approval_url"]).toContain(`${BASE_URL}/approve/`);
  });

  it("a revoked connection is refused at the next charge, also with a token that was exchanged before", async () => {
    await openChargingApp();
    const ada = await signIn();
    const { access_token } = await connectToResource(ada);
    const { resource } = openServer();
    const charge = () =>
      resource.charge({ token: access_token }, JOB, async () => ({ result: "", actualCost: 1 }));
    await charge();
    await endConnection(ada);
    const [late, fresh] = [
      await errorOf(charge()),
      await errorOf(
        openServer().resource.charge({ token: access_token }, JOB, async () => ({
          result: "",
          actualCost: 1,
        })),
      ),
    ];
    for (const error of [late, fresh]) {
      expect(error.code).toBe("unauthorized");
      const refusal = resource.refuse(error);
      expect(refusal.status).toBe(401);
      expect(refusal.headers.get("WWW-Authenticate")).toContain('error="invalid_token"');
    }
  });

  it("a token is exchanged again before the exchanged one has less than five minutes left", async () => {
    await openChargingApp();
    const { access_token } = await connectToResource(await signIn());
    const { resource, paths } = openServer();
    const charge = () =>
      resource.charge({ token: access_token }, JOB, async () => ({ result: "", actualCost: 1 }));
    await charge();
    passTime(200_000);
    await charge();
    const exchanges = () => paths.filter((path) => path === "/oauth/token").length;
    expect(exchanges()).toBe(1);
    passTime(200_000);
    await charge();
    expect(exchanges()).toBe(2);
  });

  it("a person who connected before the resource charged is sent to authorize again", async () => {
    await openChargingApp();
    const { access_token } = await connect(await signIn(), {
      resource: RESOURCE,
      scopes: ["tools"],
    });
    const { resource } = openServer();
    const work = async () => ({ result: "", actualCost: 1 });
    const error = await errorOf(resource.charge({ token: access_token }, JOB, work));
    expect(error.code).toBe("scope");
    expect(resource.refuse(error).headers.get("WWW-Authenticate")).toContain("insufficient_scope");
  });

  it("a resource that does not charge, a wrong token and a server without a client are refused", async () => {
    await openChargingApp();
    const { access_token } = await connectToResource(await signIn());
    const work = async () => ({ result: "", actualCost: 1 });
    const { resource, paths } = openServer();
    const forged = await errorOf(resource.charge({ token: `${access_token}x` }, JOB, work));
    expect(forged.code).toBe("unauthorized");
    expect(paths).not.toContain("/oauth/token");
    await setCharges(false);
    const refused = await errorOf(resource.charge({ token: access_token }, JOB, work));
    expect(refused.code).toBe("invalid_target");
    const without = openServer({ client: undefined }).resource;
    const unable = await errorOf(without.charge({ token: access_token }, JOB, work));
    expect(unable.code).toBe("invalid_argument");
    expect(() => openServer({ client: { id: "sketch", secret: "x" } })).toThrow("sketch~server");
  });
});

describe("protect with online", () => {
  it("refuses the token of a revoked connection at once, which offline verification accepts", async () => {
    await openChargingApp();
    const ada = await signIn();
    const { access_token } = await connectToResource(ada);
    const { resource } = openServer();
    const online = resource.protect(() => new Response("ok"), { online: true });
    const offline = resource.protect(() => new Response("ok"));
    expect((await online(bearer(access_token))).status).toBe(200);
    await endConnection(ada);
    const refused = await online(bearer(access_token));
    expect(refused.status).toBe(401);
    expect(refused.headers.get("WWW-Authenticate")).toContain('error="invalid_token"');
    expect((await offline(bearer(access_token))).status).toBe(200);
  });

  it("needs the client, and is unavailable while the service gives no response", async () => {
    await openChargingApp();
    const { access_token } = await connectToResource(await signIn());
    const without = openServer({ client: undefined }).resource;
    expect(() => without.protect(() => new Response("ok"), { online: true })).toThrow("client");
    const { resource } = openServer({
      fetch: (async (url, init) => {
        if (url.endsWith("/oauth/introspect")) throw new TypeError("fetch failed");
        return workerFetch(url, init);
      }) satisfies Fetch,
    });
    const online = resource.protect(() => new Response("ok"), { online: true });
    expect((await online(bearer(access_token))).status).toBe(503);
  });
});

describe("an approval of a refused charge", () => {
  it("is presented by the next charge for the same work, and forgotten when it has ended", async () => {
    const approvals = createApprovals();
    const sent: (string | undefined)[] = [];
    const refusing = (code: "token_budget_exceeded" | "approval_ended", offered: string) =>
      errorOf(
        approvals.present("work", async (approval) => {
          sent.push(approval);
          const body = { approval: offered };
          throw new PassbookError(approval === undefined ? "token_budget_exceeded" : code, "", {
            body,
          });
        }),
      );
    await refusing("token_budget_exceeded", "one");
    await refusing("token_budget_exceeded", "one");
    await refusing("approval_ended", "two");
    await approvals.present("other work", async (approval) => sent.push(approval));
    await approvals.present("work", async (approval) => sent.push(approval));
    await approvals.present("work", async (approval) => sent.push(approval));
    expect(sent).toEqual([undefined, "one", "one", undefined, undefined, "two", undefined]);
  });
});
