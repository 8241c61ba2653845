/**
 * One device login: a Durable Object with its user code as name. There is only one such object in all
 * locations. It ensures that a live code is unique, that one person decides it, and that its token is collected
 * once. Each operation is synchronous from read to write; `domain/device_login.ts` has the rules.
 */
import { DurableObject } from "cloudflare:workers";
import * as rules from "../domain/device_login.ts";
import { accepted, refused } from "../domain/result.ts";
import type * as contract from "./device_contract.ts";

/** A poll early by this much is still on time, because network delays vary. */
const DEVICE_POLL_TOLERANCE_MS = 500;

interface StoredLogin {
  readonly state: rules.LoginState;
  readonly request: contract.LoginRequest;
  readonly device_code_digest: string;
  readonly poll_interval_seconds: number;
}

const KEY = "device_login";

export class DeviceLogin extends DurableObject<Env> implements contract.DeviceLoginOperations {
  /**
   * When the device last kept its interval. Only in memory, because it only tells the device how long to wait
   * and is not worth a row per poll.
   */
  #polled_at_ms: number | null = null;

  start(start: contract.StartLoginRequest): contract.StartedLogin {
    const now_ms = Date.now();
    if (this.#read(now_ms) !== null) return { kind: "taken" };
    const { device_client, device_code_digest, ttl_seconds, poll_interval_seconds } = start;
    const state = rules.start(now_ms, ttl_seconds);
    const request = { device_client, started_at_ms: now_ms, expires_at_ms: state.expires_at_ms };
    this.#write({ state, request, device_code_digest, poll_interval_seconds });
    this.#polled_at_ms = null;
    void this.ctx.storage.setAlarm(rules.forgottenAt(state));
    return { kind: "started", request };
  }

  open(
    identity_id: string,
    copy_started_at_ms: number | null,
  ): contract.Answer<contract.OpenedLogin> {
    const login = this.#step((state, now_ms) => rules.open(state, identity_id, now_ms));
    if (!login.ok) return login;
    const { request } = login.value;
    return accepted({ request: request.started_at_ms === copy_started_at_ms ? null : request });
  }

  approve(grant: rules.LoginGrant): contract.Answer<null> {
    const login = this.#step((state, now_ms) => rules.approve(state, grant, now_ms));
    return login.ok ? accepted(null) : login;
  }

  deny(identity_id: string): contract.Answer<null> {
    const login = this.#step((state, now_ms) => rules.deny(state, identity_id, now_ms));
    return login.ok ? accepted(null) : login;
  }

  poll(device_code_digest: string): contract.Answer<contract.PolledLogin> {
    const now_ms = Date.now();
    const login = this.#read(now_ms);
    if (login === null || login.device_code_digest !== device_code_digest) {
      return refused({ code: "device_code_not_found" });
    }
    const collection = rules.collect(login.state, now_ms);
    if (!collection.ok) return collection;
    if (collection.value.kind === "pending") {
      return accepted(this.#pace(login.poll_interval_seconds, now_ms));
    }
    const { grant, state } = collection.value;
    this.#write({ ...login, state });
    return accepted({ kind: "collected", grant, device_client: login.request.device_client });
  }

  override async alarm(): Promise<void> {
    const login = this.ctx.storage.kv.get<StoredLogin>(KEY);
    const forgotten_at_ms = login === undefined ? 0 : rules.forgottenAt(login.state);
    if (forgotten_at_ms > Date.now()) await this.ctx.storage.setAlarm(forgotten_at_ms);
    else await this.ctx.storage.deleteAll();
  }

  /** The login, or null. A late alarm does not extend it. */
  #read(now_ms: number): StoredLogin | null {
    const login = this.ctx.storage.kv.get<StoredLogin>(KEY);
    return login === undefined || now_ms >= rules.forgottenAt(login.state) ? null : login;
  }

  #write(login: StoredLogin): void {
    this.ctx.storage.kv.put(KEY, login);
  }

  /** Does one step of a person; an unknown code is refused. */
  #step(
    rule: (state: rules.LoginState, now_ms: number) => contract.Answer<rules.LoginState>,
  ): contract.Answer<StoredLogin> {
    const now_ms = Date.now();
    const login = this.#read(now_ms);
    if (login === null) return refused({ code: "user_code_invalid" });
    const next = rule(login.state, now_ms);
    if (!next.ok) return next;
    const stepped = { ...login, state: next.value };
    if (stepped.state !== login.state) this.#write(stepped);
    return accepted(stepped);
  }

  /** How long a polling device is to wait. A poll that came too early does not make it wait longer. */
  #pace(poll_interval_seconds: number, now_ms: number): contract.PolledLogin {
    const interval_ms = poll_interval_seconds * 1000;
    const due_at_ms = (this.#polled_at_ms ?? Number.NEGATIVE_INFINITY) + interval_ms;
    const wait_ms = Math.min(due_at_ms - now_ms, interval_ms);
    if (wait_ms > DEVICE_POLL_TOLERANCE_MS) {
      const retry_after_seconds = Math.ceil(wait_ms / 1000);
      return { kind: "pending", too_early: true, retry_after_seconds };
    }
    this.#polled_at_ms = now_ms;
    return { kind: "pending", too_early: false, retry_after_seconds: poll_interval_seconds };
  }
}
