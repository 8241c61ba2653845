/** One store after another throws while many jobs run: accepted work stays correct, and refused work succeeds later. */
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { openDirectory } from "../support/directory_outage.ts";
import { getToken } from "../support/device_logins.ts";
import { readContents } from "../support/account_object.ts";
import { environmentWith, send, signInWithCredits, type Answer } from "../support/passbook.ts";
import { expectInvariants } from "./invariants.ts";

const JOBS = 40;
const COST = 2;

interface Outage {
  /** The environment of a new isolate. */
  newIsolate(): Env;
  begin(): void;
  end(): void;
}

/** Bindings whose methods throw while the outage lasts. */
function throwing(names: readonly string[], methods: Readonly<Record<string, unknown>>): Outage {
  let is_down = false;
  const wrap = (binding: object): object =>
    new Proxy(binding, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        return (...values: unknown[]) => {
          if (is_down) throw new Error("the binding is unreachable");
          const replaced = methods[String(name)];
          if (replaced !== undefined) return replaced;
          return Reflect.apply(method as () => unknown, target, values);
        };
      },
    });
  const bindings = Object.fromEntries(
    names.map((name) => [name, wrap(Reflect.get(env, name) as object)]),
  );
  return {
    newIsolate: () => environmentWith({ ...bindings }),
    begin: () => (is_down = true),
    end: () => (is_down = false),
  };
}

function directoryOutage(): Outage {
  const directory = openDirectory();
  return {
    newIsolate: () => directory.environment(),
    begin: () => (directory.state = "fails"),
    end: () => (directory.state = "answers"),
  };
}

const LIMITERS = Object.keys(env).filter((name) => name.startsWith("LIMIT_"));

const OUTAGES: Readonly<Record<string, () => Outage>> = {
  // The double never limits, since the load of this test is above the real limits.
  "every rate limiter": () => throwing(LIMITERS, { limit: Promise.resolve({ success: true }) }),
  KV: () => throwing(["DEVICE_CODES"], {}),
  DIRECTORY: directoryOutage,
};

function times<Value>(count: number, make: (index: number) => Promise<Value>): Promise<Value[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)));
}

const statuses = (answers: readonly Answer[]): readonly number[] => [
  ...new Set(answers.map(({ status }) => status)),
];

describe.each(Object.keys(OUTAGES))("an outage of %s under load", (name) => {
  it(`while ${name} throws, accepted jobs of sessions and tokens are charged once, and refused ones succeed later`, async () => {
    for (const level of ["error", "warn"] as const) vi.spyOn(console, level).mockReturnValue();
    const outage = OUTAGES[name]?.() ?? expect.unreachable();
    const ada = await signInWithCredits();
    const proofs = [ada.token, (await getToken(ada)).token];
    const post = (isolate: Env, index: number, path: string, body: object) =>
      send(
        "POST",
        path,
        {
          headers: {
            Authorization: `Bearer ${proofs[index % 2]}`,
            "Content-Type": "application/json",
            "Idempotency-Key": `${path}-${index}`,
          },
          body: JSON.stringify(body),
        },
        isolate,
      );
    const create = (isolate: Env, index: number) =>
      post(isolate, index, "/api/jobs", { app: "demo", action: "draw", cost_estimate: COST });

    const warm = outage.newIsolate();
    const before = await times(JOBS / 2, (index) => create(warm, index));
    outage.begin();
    // The isolate's caches, which last a minute, have expired.
    vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ["Date"] });
    // An isolate that has read the registry continues. Each request is sent twice, as a client's retry does.
    const during = await times(JOBS, (index) => create(warm, (index % (JOBS / 2)) + JOBS / 2));
    expect([statuses(before), statuses(during)]).toEqual([[200], [200]]);
    // A new isolate may not know the app's policy: it creates the job, or refuses it and changes nothing.
    const cold = outage.newIsolate();
    const refused = await times(4, (index) => create(cold, JOBS + index));
    for (const { status, headers } of refused) {
      expect([200, 503]).toContain(status);
      if (status === 503) expect(Number(headers.get("Retry-After"))).toBeGreaterThan(0);
    }
    // Started jobs settle in both isolates, each once.
    const job_ids = [...new Set([...before, ...during].map(({ body }) => String(body.job_id)))];
    expect(job_ids).toHaveLength(JOBS);
    const settled = await times(JOBS * 2, (index) => {
      const job_id = job_ids[index % JOBS];
      const isolate = index < JOBS ? warm : cold;
      return post(isolate, index % JOBS, "/api/jobs/complete", { job_id, actual_cost: 1 });
    });
    expect(statuses(settled)).toEqual([200]);

    outage.end();
    const recovered = outage.newIsolate();
    expect(statuses(await times(4, (index) => create(recovered, JOBS + index)))).toEqual([200]);
    const { jobs } = await readContents(ada.identity_id);
    expect(jobs).toHaveLength(JOBS + 4);
    const wallet = await ada.get("/api/wallet");
    expect(wallet.body.account.credits).toBe(100 - JOBS - 4 * COST);
    await expectInvariants(ada.identity_id);
  });
});
