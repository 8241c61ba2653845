import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import {
  createClient,
  isPassbookError,
  type Fetch,
  type PassbookClient,
} from "../../../src/client/index.ts";
import { BASE_URL, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import {
  FAULTS,
  openNetwork,
  workerFetch,
  type Fault,
  type FaultyNetwork,
} from "./worker_fetch.ts";
import { histories } from "../support/histories.ts";

const JOB = { app: "demo", action: "draw", costEstimate: 10 };

/** A client whose requests go through `network`. */
function clientOver(network: FaultyNetwork, person: SignedIn): PassbookClient {
  return createClient({
    baseUrl: "http://localhost",
    token: person.token,
    fetch: (url, init) => network.fetch(url.replace("http://localhost", BASE_URL), init),
    wait: async () => {},
  });
}

class WorkFailed extends Error {}

/** The account's balance and its jobs afterwards. */
async function outcomeOf(person: SignedIn) {
  const { account } = (await person.get("/api/wallet")).body;
  const { jobs } = (await person.get("/api/jobs")).body;
  return {
    credits: account.credits as number,
    jobs: jobs.map(({ status, actual_cost }: { status: string; actual_cost: number }) => [
      status,
      actual_cost,
    ]),
  };
}

const faultArbitrary = fc.array(fc.constantFrom<Fault>("none", ...FAULTS), { maxLength: 14 });

const endingArbitrary = fc.oneof(
  fc.record({ kind: fc.constant("returns" as const), cost: fc.nat({ max: 30 }) }),
  fc.record({ kind: fc.constant("throws" as const) }),
  // Aborted at the n-th request of the client, or during the work if 0.
  fc.record({ kind: fc.constant("aborted" as const), at: fc.nat({ max: 4 }) }),
);

describe("runJob over a faulty network", () => {
  it(
    "runJob over a faulty network charges the cost once or not at all, and leaves no job started",
    { tags: ["history"] },
    async () => {
      let people = 0;
      await fc.assert(
        fc.asyncProperty(faultArbitrary, endingArbitrary, async (faults, ending) => {
          const person = await signInWithCredits("demo", `ada${(people += 1)}@example.com`);
          const stop = new AbortController();
          const network = openNetwork(faults, (count) => {
            if (ending.kind === "aborted" && ending.at === count) stop.abort(new WorkFailed());
          });
          const client = clientOver(network, person);
          let worked = 0;
          const run = client.runJob(
            JOB,
            async () => {
              worked += 1;
              if (ending.kind === "throws") throw new WorkFailed();
              if (ending.kind === "aborted" && ending.at === 0) stop.abort(new WorkFailed());
              return {
                result: "a picture",
                actualCost: ending.kind === "returns" ? ending.cost : 7,
              };
            },
            { signal: stop.signal },
          );
          const ended = await run.then(
            (ran) => ({ ran, error: null }),
            (error: unknown) => ({ ran: null, error }),
          );
          await client.whenIdle();
          await network.deliver();
          const { credits, jobs } = await outcomeOf(person);
          expect(worked).toBeLessThanOrEqual(1);
          expect(jobs.length).toBeLessThanOrEqual(1);
          if (ended.ran === null) {
            expect(credits).toBe(100);
            for (const job of jobs) expect(job).toEqual(["failed", 0]);
            const by_work = ended.error instanceof WorkFailed;
            expect(by_work || isPassbookError(ended.error)).toBe(true);
            if (ending.kind === "throws" && worked === 1) expect(by_work).toBe(true);
          } else {
            const cost = ended.ran.job.actual_cost;
            expect(ended.ran).toMatchObject({ result: "a picture", credits: 100 - cost });
            expect(cost).toBe(ending.kind === "returns" ? ending.cost : 7);
            expect(credits).toBe(100 - cost);
            expect(jobs).toEqual([["completed", cost]]);
          }
        }),
        { numRuns: histories(120) },
      );
    },
  );
});

async function clientOf(person: SignedIn, faults: readonly Fault[] = []) {
  const network = openNetwork(faults);
  return { network, client: clientOver(network, person) };
}

describe("runJob", () => {
  it("runJob refunds the reserve and passes the error on if the work throws", async () => {
    const ada = await signInWithCredits();
    const { client } = await clientOf(ada);
    const failure = new WorkFailed("no paper");
    const run = client.runJob(JOB, () => Promise.reject(failure));
    await expect(run).rejects.toBe(failure);
    expect(await outcomeOf(ada)).toEqual({ credits: 100, jobs: [["failed", 0]] });
  });

  it("runJob does not wait for work that ignores its abort signal", async () => {
    const ada = await signInWithCredits();
    const { client } = await clientOf(ada);
    const stop = new AbortController();
    const run = client.runJob(
      JOB,
      () => {
        stop.abort(new WorkFailed());
        return new Promise<never>(() => {});
      },
      { signal: stop.signal },
    );
    await expect(run).rejects.toBeInstanceOf(WorkFailed);
    expect(await outcomeOf(ada)).toEqual({ credits: 100, jobs: [["failed", 0]] });
  });

  it("runJob sends nothing if its signal is already aborted", async () => {
    const ada = await signInWithCredits();
    const { client, network } = await clientOf(ada);
    const run = client.runJob(JOB, async () => ({ result: null, actualCost: 1 }), {
      signal: AbortSignal.abort(new WorkFailed()),
    });
    await expect(run).rejects.toBeInstanceOf(WorkFailed);
    expect(network.sent).toEqual([]);
  });

  it("a refused runJob throws the refusal and leaves no job", async () => {
    const ada = await signInWithCredits();
    const { client } = await clientOf(ada);
    const dear = { ...JOB, costEstimate: 101 };
    const run = client.runJob(dear, async () => ({ result: null, actualCost: 1 }));
    await expect(run).rejects.toMatchObject({ code: "insufficient_credits", status: 402 });
    expect(await outcomeOf(ada)).toEqual({ credits: 100, jobs: [] });
  });

  it("runJob settles work that takes longer than the life of a session token", async () => {
    const ada = await signInWithCredits();
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    const network = openNetwork([]);
    const responses: ReturnType<Fetch>[] = [];
    const fetch: Fetch = (url, init) => {
      const response = network.fetch(url, init);
      responses.push(response);
      return response;
    };
    const client = clientOver({ ...network, fetch }, ada);
    const ran = await client.runJob(JOB, async () => {
      for (let minute = 0; minute < 40; minute += 0.5) {
        vi.advanceTimersByTime(30_000);
        await new Promise((resolve) => setTimeout(resolve, 1));
        await Promise.all(responses);
      }
      return { result: "a fox", actualCost: 4 };
    });
    expect(ran).toMatchObject({ result: "a fox", credits: 96 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("every retry of a write has the idempotency key of the first attempt", async () => {
    const ada = await signInWithCredits();
    const { client, network } = await clientOf(ada, ["response_lost", "request_lost", "none"]);
    await client.jobs.create(JOB);
    const keys = network.sent.map(({ headers }) => headers["Idempotency-Key"]);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("runJob behind a firewall or proxy", () => {
  it("runJob keeps finished work if a firewall refuses its completion, and retries", async () => {
    const ada = await signInWithCredits();
    const { client } = await clientOf(ada, ["none", "blocked", "blocked", "mistaken"]);
    const ran = await client.runJob(JOB, async () => ({ result: "a fox", actualCost: 4 }));
    expect(ran).toMatchObject({ result: "a fox", credits: 96 });
    expect(await outcomeOf(ada)).toEqual({ credits: 96, jobs: [["completed", 4]] });
  });

  it.each<Fault>(["limited", "blocked"])(
    "runJob refunds a reserve whose response was lost, although all later requests are %s",
    async (fault) => {
      const ada = await signInWithCredits();
      const { client } = await clientOf(ada, ["response_lost", ...Array<Fault>(4).fill(fault)]);
      const run = client.runJob(JOB, async () => ({ result: null, actualCost: 1 }));
      await expect(run).rejects.toBeInstanceOf(Error);
      await client.whenIdle();
      expect(await outcomeOf(ada)).toEqual({ credits: 100, jobs: [["failed", 0]] });
    },
  );

  it("runJob reserves nothing and stops retrying if its first requests are rate limited", async () => {
    const ada = await signInWithCredits();
    const { client, network } = await clientOf(ada, Array<Fault>(5).fill("limited"));
    const run = client.runJob(JOB, async () => ({ result: null, actualCost: 1 }));
    await expect(run).rejects.toMatchObject({ code: "rate_limited" });
    await client.whenIdle();
    expect(network.sent).toHaveLength(5);
  });
});

describe("runJob during an outage", () => {
  /** A client and functions that begin and end an outage. During it, `failing` replaces the network. */
  async function openOutage(failing: Fetch) {
    const person = await signInWithCredits();
    const back = Promise.withResolvers<void>();
    const network = openNetwork([]);
    let is_down = false;
    const client = createClient({
      baseUrl: "http://localhost",
      token: person.token,
      timeoutMs: 500,
      fetch: (url, init) =>
        is_down
          ? failing(url, init)
          : network.fetch(url.replace("http://localhost", BASE_URL), init),
      wait: () => back.promise,
    });
    const beginOutage = (): void => void (is_down = true);
    const endOutage = (): void => {
      is_down = false;
      back.resolve();
    };
    return { person, client, beginOutage, endOutage };
  }

  const unreachable: Fetch = () => Promise.reject(new TypeError("fetch failed"));
  const hanging: Fetch = (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });

  it.each([
    ["unreachable", unreachable],
    ["hanging", hanging],
  ])(
    "runJob passes an error of the work on at once, and refunds after the outage (%s)",
    async (_, failing) => {
      const { person, client, beginOutage, endOutage } = await openOutage(failing);
      const run = client.runJob(JOB, async () => {
        beginOutage();
        throw new WorkFailed();
      });
      await expect(run).rejects.toBeInstanceOf(WorkFailed);
      endOutage();
      await client.whenIdle();
      expect(await outcomeOf(person)).toEqual({ credits: 100, jobs: [["failed", 0]] });
    },
  );

  it("runJob passes an abort on during an outage", async () => {
    const { person, client, beginOutage, endOutage } = await openOutage(unreachable);
    const stop = new AbortController();
    const work = () => {
      beginOutage();
      stop.abort(new WorkFailed());
      return new Promise<never>(() => {});
    };
    await expect(client.runJob(JOB, work, { signal: stop.signal })).rejects.toBeInstanceOf(
      WorkFailed,
    );
    endOutage();
    await client.whenIdle();
    expect((await outcomeOf(person)).credits).toBe(100);
  });
});

describe("workerFetch", () => {
  it("workerFetch reaches the Worker", async () => {
    const signal = AbortSignal.timeout(1_000);
    const init = { method: "GET", headers: {}, redirect: "manual", signal } as const;
    expect((await workerFetch("http://passbook.test/healthz", init)).status).toBe(200);
  });
});
