/** The part of the identity port for people who sign in with passkeys (WebAuthn) and recovery codes. */
import type { BrowserSession, Session, SignInFinished } from "./port.ts";

/** A ceremony about to start in a browser. */
export type PasskeyStart = {
  /** The service's own origin. Its host is the only one that the passkeys work on. */
  readonly base_url: string;
} & (
  | { readonly kind: "sign_in"; readonly redirect_to: string | null }
  | {
      /** Creates an account. */
      readonly kind: "register";
      readonly redirect_to: string | null;
      readonly service_name: string;
      readonly person_name: string;
      readonly passkey_name: string;
    }
  | {
      /** Adds a passkey to the account of a signed-in person. */
      readonly kind: "link";
      readonly service_name: string;
      readonly session: Session;
      readonly passkey_name: string;
    }
);

export type PasskeyStarted =
  | {
      readonly kind: "started";
      /** `PublicKeyCredentialRequestOptionsJSON` or `PublicKeyCredentialCreationOptionsJSON`. */
      readonly options: object;
      readonly set_cookies: readonly string[];
    }
  | { readonly kind: "too_many" };

/** An account that was created with a passkey. */
export interface Registered {
  readonly kind: "registered";
  readonly session: BrowserSession;
  readonly set_cookies: readonly string[];
  readonly redirect_to: string | null;
  /** Shown once, and stored only as a hash. */
  readonly recovery_code: string;
}

export type PasskeyFinished = Exclude<SignInFinished, { kind: "unknown_method" }> | Registered;

/** A sign-in with a recovery code, which was replaced by `recovery_code`. */
export type Recovered = Pick<Registered, "session" | "set_cookies" | "recovery_code">;

/** A new recovery code, and the other sessions that were started with the former one. */
export interface ReplacedRecoveryCode {
  readonly recovery_code: string;
  readonly ended_sessions: readonly Session[];
}

export interface PasskeyPort {
  /** Starts a ceremony. Writes to no store. */
  start(start: PasskeyStart): Promise<PasskeyStarted>;
  /** Finishes the ceremony that this browser started, with its response. A response counts once. */
  finish(request: Request, response: unknown, base_url: string): Promise<PasskeyFinished>;
  /** Whose recovery code this is; null: nobody's. */
  findByRecoveryCode(code: string): Promise<string | null>;
  /** Signs in with a recovery code and replaces it; null: it is nobody's code, or was used meanwhile. */
  recover(code: string, request: Request, base_url: string): Promise<Recovered | null>;
  /** Gives the session's person a new recovery code, and ends the other sessions of the former one. */
  replaceRecoveryCode(session: Session): Promise<ReplacedRecoveryCode>;
}

/** The sign-in method of sessions that were started with a recovery code. Ids of providers have no dot. */
export const RECOVERY_METHOD = "recovery.code";

/** The most passkeys of one person, which one list shows and one ceremony excludes. */
export const PASSKEYS_MAX = 20;
