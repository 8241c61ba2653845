/** The RPC interface of a DeviceLogin object: plain values only. */
import type { LoginGrant } from "../domain/device_login.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Result } from "../domain/result.ts";

/** The device client that requests a token, as the approver sees it. All of it is claimed or guessed. */
export interface DeviceClient {
  readonly client_name: string | null;
  readonly app_slug: string | null;
  /** The program, from its `User-Agent`; null: unknown. */
  readonly program: string | null;
  /** The location of the request, from its IP address; null: unknown. */
  readonly city: string | null;
  readonly country: string | null;
  /** The OAuth client that started the login. A registered one proved itself. Absent: none, or our command line. */
  readonly client_id?: string;
  /** Whether it requests only to read. Absent: it did not say. */
  readonly reads_only?: boolean;
}

/** The request of one login. It never changes, so every copy of it is correct. */
export interface LoginRequest {
  readonly device_client: DeviceClient;
  readonly started_at_ms: number;
  readonly expires_at_ms: number;
}

export interface StartLoginRequest {
  readonly device_client: DeviceClient;
  /** SHA-256 of the device code. Only a client with the code can collect the token. */
  readonly device_code_digest: string;
  readonly ttl_seconds: number;
  readonly poll_interval_seconds: number;
}

export type StartedLogin =
  | { readonly kind: "started"; readonly request: LoginRequest }
  /** Another login has this user code. Draw another one. */
  | { readonly kind: "taken" };

/** `request` is null if the caller's copy, identified by its start time, is of this login. */
export interface OpenedLogin {
  readonly request: LoginRequest | null;
}

export type PolledLogin =
  | {
      readonly kind: "pending";
      /** Whether the poll came before its interval had passed. */
      readonly too_early: boolean;
      readonly retry_after_seconds: number;
    }
  | {
      readonly kind: "collected";
      readonly grant: LoginGrant;
      readonly device_client: DeviceClient;
    };

export type Answer<Value> = Result<Value, Refusal>;

/** The operations of one device login. */
export interface DeviceLoginOperations {
  start(start: StartLoginRequest): StartedLogin;
  /**
   * Reserves the decision for this person. `copy_started_at_ms`: the start time of the request that the caller
   * has a copy of; null: no copy. Refused as `user_code_invalid`, `expired_token`, `already_used` or
   * `access_denied`.
   */
  open(identity_id: string, copy_started_at_ms: number | null): Answer<OpenedLogin>;
  /** Refused like {@link open}. */
  approve(grant: LoginGrant): Answer<null>;
  /** Refused like {@link open}. */
  deny(identity_id: string): Answer<null>;
  /** Refused as `device_code_not_found`, `expired_token`, `already_used` or `access_denied`. */
  poll(device_code_digest: string): Answer<PolledLogin>;
}
