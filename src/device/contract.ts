/** What crosses the RPC border of a DeviceLogin object: plain values only. */
import type { LoginGrant } from "../domain/device_login.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Result } from "../domain/result.ts";

/** What asks for a token, for the approver to read. All of it is the asker's word or a guess. */
export interface Asker {
  readonly client_name: string | null;
  readonly app_slug: string | null;
  /** The kind of program, from its `User-Agent`; null where it says nothing we know. */
  readonly program: string | null;
  /** Where the request came from, by its address; null where that is not known. */
  readonly city: string | null;
  readonly country: string | null;
}

/** One login's request. It never changes, so that any copy of it is true. */
export interface LoginRequest {
  readonly asker: Asker;
  readonly started_at_ms: number;
  readonly expires_at_ms: number;
}

export interface StartLoginRequest {
  readonly asker: Asker;
  /** SHA-256 of the device code: only who has the code itself may collect. */
  readonly device_code_digest: string;
  readonly ttl_seconds: number;
  readonly poll_interval_seconds: number;
}

export type StartedLogin =
  | { readonly kind: "started"; readonly request: LoginRequest }
  /** Another login has this user code; draw again. */
  | { readonly kind: "taken" };

/** `request` is null where the caller's copy, told by its start, is of this very login. */
export interface OpenedLogin {
  readonly request: LoginRequest | null;
}

export type PolledLogin =
  | {
      readonly kind: "pending";
      /** Whether the poll came before its interval was over. */
      readonly too_early: boolean;
      readonly retry_after_seconds: number;
    }
  | { readonly kind: "collected"; readonly grant: LoginGrant; readonly asker: Asker };

export type Answer<Value> = Result<Value, Refusal>;

/** The operations of one device login. The object implements it; `client.ts` reaches it by user code. */
export interface DeviceLoginOperations {
  start(start: StartLoginRequest): StartedLogin;
  /**
   * Makes the login this person's to decide. `copy_started_at_ms`: the start of the request that the
   * caller has a copy of, null without one.
   * Refused as `user_code_invalid`, `expired_token`, `already_used` or `access_denied`.
   */
  open(identity_id: string, copy_started_at_ms: number | null): Answer<OpenedLogin>;
  /** Refused like {@link open}. */
  approve(grant: LoginGrant): Answer<null>;
  /** Refused like {@link open}. */
  deny(identity_id: string): Answer<null>;
  /** Refused as `device_code_unknown`, `expired_token`, `already_used` or `access_denied`. */
  poll(device_code_digest: string): Answer<PolledLogin>;
}
