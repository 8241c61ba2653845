import { env } from "cloudflare:workers";
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { histories } from "../support/histories.ts";
import { passTime } from "../support/clock.ts";
import { evict } from "../support/evict.ts";
import type { LoginGrant } from "../../../src/domain/device_login.ts";
import { FULL_ACCESS } from "../../../src/domain/allowance.ts";

const TTL_SECONDS = 900;
const KEEP_MS = 24 * 60 * 60 * 1000;
const PEOPLE = ["ada", "bob"] as const;
type Person = (typeof PEOPLE)[number];

type Command =
  | { readonly kind: "start"; readonly digest: string }
  | { readonly kind: "open" | "approve" | "deny"; readonly person: Person }
  | { readonly kind: "poll"; readonly digest: string }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "evict" }
  | { readonly kind: "alarm" };

const person = fc.constantFrom(...PEOPLE);
const digest = fc.constantFrom("one", "two");
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("start" as const), digest }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom("open", "approve", "deny"), person }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("poll" as const), digest }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 5_000, TTL_SECONDS * 1000 - 1, TTL_SECONDS * 1000, KEEP_MS),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("evict" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("alarm" as const) }) },
);

/** A model of a login by the design, independent of the tested code. */
class Model {
  login: {
    digest: string;
    expires_at_ms: number;
    opened_by: Person | null;
    ending: "approved" | "denied" | "redeemed" | null;
    owner: Person | null;
  } | null = null;

  /** The expected result of a command: a refusal code, or a word for success. */
  answer(command: Command, now_ms: number): string {
    if (this.login !== null && now_ms >= this.login.expires_at_ms + KEEP_MS) this.login = null;
    switch (command.kind) {
      case "start":
        return this.#start(command.digest, now_ms);
      case "open":
      case "approve":
      case "deny":
        return this.#decide(command.kind, command.person, now_ms);
      case "poll":
        return this.#poll(command.digest, now_ms);
      case "wait":
      case "evict":
      case "alarm":
        return "nothing";
    }
  }

  #start(digest: string, now_ms: number): string {
    if (this.login !== null) return "taken";
    const expires_at_ms = now_ms + TTL_SECONDS * 1000;
    this.login = { digest, expires_at_ms, opened_by: null, ending: null, owner: null };
    return "started";
  }

  #decide(kind: "open" | "approve" | "deny", person: Person, now_ms: number): string {
    const login = this.login;
    if (login === null) return "user_code_invalid";
    if (login.ending === "redeemed") return "already_used";
    if (login.ending === "denied") return "access_denied";
    if (now_ms >= login.expires_at_ms) return "expired_token";
    if (login.ending === "approved") return "already_used";
    if (login.opened_by !== null && login.opened_by !== person) return "user_code_invalid";
    if (kind === "open") login.opened_by = person;
    else login.ending = kind === "approve" ? "approved" : "denied";
    if (kind === "approve") login.owner = person;
    return "ok";
  }

  #poll(digest: string, now_ms: number): string {
    const login = this.login;
    if (login === null || login.digest !== digest) return "device_code_not_found";
    if (login.ending === "redeemed") return "already_used";
    if (login.ending === "denied") return "access_denied";
    if (now_ms >= login.expires_at_ms) return "expired_token";
    if (login.ending === null) return "pending";
    login.ending = "redeemed";
    return `collected for ${login.owner}`;
  }
}

const device_client = {
  client_name: null,
  app_slug: null,
  program: null,
  city: null,
  country: null,
};
const started = { device_client, ttl_seconds: TTL_SECONDS, poll_interval_seconds: 5 };

function grantOf(identity_id: Person): LoginGrant {
  return {
    identity_id,
    limits: FULL_ACCESS,
    session_id: "session",
    signin_method: null,
    session_ends_at_ms: null,
  };
}

/** Runs a command on the object and returns the result in the model's words. */
async function carryOut(command: Command, name: string): Promise<string> {
  const login = env.DEVICE_LOGIN.getByName(name);
  switch (command.kind) {
    case "start":
      return (await login.start({ ...started, device_code_digest: command.digest })).kind;
    case "open":
    case "approve":
    case "deny": {
      const { kind, person } = command;
      const answer =
        kind === "open"
          ? await login.open(person, null)
          : await (kind === "approve" ? login.approve(grantOf(person)) : login.deny(person));
      return answer.ok ? "ok" : answer.refusal.code;
    }
    case "poll": {
      const answer = await login.poll(command.digest);
      if (!answer.ok) return answer.refusal.code;
      const polled = answer.value;
      return polled.kind === "pending" ? "pending" : `collected for ${polled.grant.identity_id}`;
    }
    case "wait":
      vi.setSystemTime(Date.now() + command.ms);
      return "nothing";
    case "evict":
      await evict(login);
      return "nothing";
    case "alarm":
      await runDurableObjectAlarm(login);
      return "nothing";
  }
}

describe("the object of a device login", () => {
  it(
    "a device login behaves like the model, with evictions and late or early alarms between steps",
    { tags: ["history"] },
    async () => {
      vi.useFakeTimers({ toFake: ["Date"] });
      let logins = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(command, { minLength: 4, maxLength: 25 }), async (commands) => {
          const name = `LOGIN${(logins += 1)}`;
          const model = new Model();
          for (const command of [{ kind: "start", digest: "one" } as const, ...commands]) {
            const result = await carryOut(command, name);
            expect({ command, result }).toEqual({
              command,
              result: model.answer(command, Date.now()),
            });
          }
        }),
        { numRuns: histories(150) },
      );
    },
  );

  it("a device login deletes everything at the alarm after its end, and nothing before", async () => {
    const login = env.DEVICE_LOGIN.getByName("BCDFGHJK");
    await login.start({ ...started, device_code_digest: "one" });
    const countStored = () =>
      runInDurableObject(login, (_, { storage }) => Array.from(storage.kv.list()).length);
    passTime(TTL_SECONDS * 1000 + KEEP_MS - 60_000);
    await runDurableObjectAlarm(login);
    expect(await countStored()).toBe(1);
    passTime(60_000);
    expect(await runDurableObjectAlarm(login)).toBe(true);
    expect(await countStored()).toBe(0);
  });

  it("a reader without a copy, or with a copy of another login, gets the request", async () => {
    const login = env.DEVICE_LOGIN.getByName("BCDFGHJK");
    const answer = await login.start({ ...started, device_code_digest: "one" });
    const started_at_ms = answer.kind === "started" ? answer.request.started_at_ms : 0;
    const openAs = async (known: number | null) => {
      const opened = await login.open("ada", known);
      return opened.ok ? opened.value.request : opened.refusal;
    };
    expect(await openAs(null)).toMatchObject({ device_client });
    expect(await openAs(started_at_ms - 1)).toMatchObject({ device_client });
    expect(await openAs(started_at_ms)).toBeNull();
  });
});
