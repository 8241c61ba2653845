/**
 * The port to the adapter that signs people in. `set_cookies` always contains `Set-Cookie` values that the
 * response must carry.
 */
import type { Language } from "../domain/language.ts";
import type { Refusal } from "../domain/refusals.ts";

/** A signed-in browser. `id` is the `sid` of its session JWTs. */
export interface Session {
  readonly id: string;
  readonly identity_id: string;
}

/**
 * A session as its own browser proves it. `binding` goes into the session token. It identifies the session's
 * cookie without containing it.
 */
export interface BrowserSession extends Session {
  readonly binding: string;
}

/** The session that a browser's request proves. */
export type Resumption =
  | {
      readonly kind: "session";
      readonly session: ResumedSession;
      readonly set_cookies: readonly string[];
    }
  | { readonly kind: "none" };

/** A {@link BrowserSession} that was just looked up. */
export interface ResumedSession extends BrowserSession, LiveSession {
  /** Whether its method proves a new sign-in. Some providers sign in everybody who is signed in there. */
  readonly is_proven: boolean;
}

/** A session that just began. */
export interface StartedSession extends BrowserSession {
  /** The language that the person chose for pages; null: they chose none. */
  readonly language: Language | null;
}

/** A sign-in that succeeded. */
export interface SignedIn {
  readonly session: StartedSession;
  readonly set_cookies: readonly string[];
}

/** A way to sign in: the text of its button, and the `{id}` of `/signin/{id}`. */
export interface SignInMethod {
  readonly id: string;
  readonly name: string;
}

/** A sign-in about to start. */
export interface SignInStart {
  readonly method_id: string;
  /** The service's own origin, which the callback address is under. */
  readonly base_url: string;
  /** The address to go to at the end, checked against the allowlist; null: `/account`. */
  readonly redirect_to: string | null;
  /** The signed-in person who is linking this method; null: a plain sign-in. */
  readonly link_to: Session | null;
  /** Whether the person must sign in at the provider too, although they may be signed in there. */
  readonly again: boolean;
}

/** The browser must go to `to`, an address of the provider. The provider sends it back to the callback. */
export interface ProviderRedirect {
  readonly to: string;
  readonly set_cookies: readonly string[];
}

export type SignInStarted =
  | ({ readonly kind: "redirect" } & ProviderRedirect)
  | { readonly kind: "unknown_method" };

/** Why a sign-in failed. */
export type SignInFailure =
  /** The person or the provider's policy refused. */
  | "cancelled"
  /** This browser has no open flow: it expired, was completed, or began in another browser. */
  | "expired"
  /** The response belongs to another flow, or comes from another provider than requested. */
  | "mismatch"
  /** The provider did not respond in time, or is unavailable. */
  | "provider_unreachable"
  /** The provider refused the code or our client, or its response is invalid. */
  | "provider_failed"
  /** The provider was requested to sign the person in again, and did not. */
  | "not_signed_in_again"
  /** The provider's id belonged to another issuer. The operator must give this issuer another id. */
  | "issuer_changed"
  /** The identity to link already belongs to someone else. */
  | "linked_elsewhere"
  /** The person already has another identity of this provider. */
  | "linked_another"
  /** The session that started the link ended, or another person signed in. */
  | "link_session_ended"
  /** The browser sent no passkey: it has no JavaScript. */
  | "passkey_missing"
  /** Nobody has this passkey: it was removed from its account, or its account was deleted. */
  | "passkey_unknown"
  /** The response of the passkey was refused. */
  | "passkey_refused";

export type SignInFinished =
  | {
      readonly kind: "signed_in";
      readonly session: StartedSession;
      readonly set_cookies: readonly string[];
      readonly redirect_to: string | null;
    }
  | { readonly kind: "linked"; readonly set_cookies: readonly string[] }
  | {
      readonly kind: "failed";
      readonly failure: SignInFailure;
      readonly set_cookies: readonly string[];
      readonly redirect_to: string | null;
      /** Whether the flow was to link a further method. */
      readonly linking: boolean;
    }
  | { readonly kind: "unknown_method" };

export interface SignedOut {
  readonly set_cookies: readonly string[];
  /** Tokens and streams of these sessions must end too. */
  readonly ended_sessions: readonly Session[];
}

/** A person as shown on their `/account`. */
export interface Person {
  readonly identity_id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly email_verified: boolean;
  /** The method whose provider verified the address; null: none did. */
  readonly vouched_by: string | null;
  /** Their sign-in methods, oldest first. */
  readonly linked: readonly LinkedMethod[];
  /** When their recovery code was made; null: they have none. */
  readonly recovery_code_at_ms: number | null;
  /** The language that they chose for pages; null: they chose none. */
  readonly language: Language | null;
  readonly created_at_ms: number;
}

/** A sign-in method of a person. */
export interface LinkedMethod {
  /** A method's id, which may no longer be configured. Each passkey has its own. */
  readonly provider: string;
  /** Their id at the provider, or the passkey's credential id. */
  readonly subject: string;
  readonly linked_at_ms: number;
  /** Null: a provider. `last_used_at_ms` is null if it was never used to sign in. */
  readonly passkey: { readonly name: string; readonly last_used_at_ms: number | null } | null;
}

/** A person as a verified token of a trusted issuer names them. */
export interface TokenPerson {
  /** The sign-in method that the issuer's people belong to. */
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  readonly issued_at_ms: number;
  readonly profile: Pick<Person, "name" | "email" | "email_verified">;
  /** Whether the account gets starter credits if this token makes the person. */
  readonly takes_starters: boolean;
}

/**
 * `left`: they deleted their account, or unlinked the method, after the token was issued; or the method's id belongs to
 * another issuer. `refused`: no person has the token's identity, and no person may be made now.
 */
export type TokenPersonFound =
  | { readonly kind: "found"; readonly identity_id: string }
  | { readonly kind: "left" }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** A person as shown in lists. */
export type Profile = Pick<Person, "name" | "email">;

/** A browser session as shown to its person. Null: unknown. */
export interface ListedSession {
  readonly id: string;
  readonly created_at_ms: number;
  /** Accurate to a day. */
  readonly last_used_at_ms: number | null;
  /** The browser and its system, and its location, as of the last use. */
  readonly browser: string | null;
  readonly city: string | null;
  readonly country: string | null;
}

/** A session that has not ended. */
export interface LiveSession {
  /** When its person signed in, in milliseconds since the epoch. */
  readonly started_at_ms: number;
  /** When it will end unless it is renewed, in milliseconds since the epoch. */
  readonly ends_at_ms: number;
  /** The method that it was started with; null: it was unlinked since. */
  readonly signin_method: string | null;
}

export type Unlinked =
  | {
      readonly kind: "unlinked";
      /** The other sessions that were started with this method. Their tokens and streams must end too. */
      readonly ended_sessions: readonly Session[];
    }
  | { readonly kind: "refused"; readonly reason: "only_one_left" | "not_linked" };

/** A debt of a deleted account, in credits. It is owed again only once, even if a call is repeated. */
export interface Debt {
  readonly id: string;
  readonly credits: number;
}

/**
 * The debt of a deleted account, in credits, and the ids of earlier debts that are part of it. `may_change`: refunds and
 * disputes may still change it.
 */
export interface Owed {
  readonly credits: number;
  readonly debt_ids: readonly string[];
  readonly may_change: boolean;
}

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

type PasskeyStarted =
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
  readonly session: StartedSession;
  readonly set_cookies: readonly string[];
  readonly redirect_to: string | null;
  /** Shown once, and stored only as a hash. */
  readonly recovery_code: string;
}

export type PasskeyFinished = Exclude<SignInFinished, { kind: "unknown_method" }> | Registered;

/** A sign-in with a recovery code, which was replaced by `recovery_code`. */
type Recovered = Pick<Registered, "session" | "set_cookies" | "recovery_code">;

/** A new recovery code, and the other sessions that were started with the former one. */
interface ReplacedRecoveryCode {
  readonly recovery_code: string;
  readonly ended_sessions: readonly Session[];
}

export interface PasskeyPort {
  /** Starts a ceremony. Writes to no store. */
  start(start: PasskeyStart): Promise<PasskeyStarted>;
  /** Finishes the ceremony that this browser started, with its response. A response counts once. */
  finish(request: Request, response: unknown, base_url: string): Promise<PasskeyFinished>;
  /** The identity that has this recovery code; null if the code is unknown. */
  findByRecoveryCode(code: string): Promise<string | null>;
  /** Signs in with a recovery code and replaces it; null: it is nobody's code, or was used meanwhile. */
  recover(code: string, request: Request, base_url: string): Promise<Recovered | null>;
  /** Gives the session's person a new recovery code, and ends the other sessions of the former one. */
  replaceRecoveryCode(session: Session): Promise<ReplacedRecoveryCode>;
}

/** The sign-in method of sessions that were started with a recovery code. Ids of providers have no dot. */
export const RECOVERY_METHOD = "recovery.code";

export interface IdentityPort {
  /** The sign-in methods, in the order of their buttons. */
  readonly sign_in_methods: readonly SignInMethod[];
  /**
   * The bindings of a request's session cookies, whether these sessions have ended or not. Reads no store; the
   * caller compares them with the session token.
   */
  sessionBindings(request: Request): Promise<readonly string[]>;
  /** Finds and renews the session that a request's cookies prove. May read a store. */
  resume(request: Request): Promise<Resumption>;
  /** Whether this session of this person has not ended. Reads a store, so most requests must not call it. */
  isSessionLive(session_id: string, identity_id: string): Promise<boolean>;
  /** A session of this person; null: it has ended. Reads a store. */
  readSession(session_id: string, identity_id: string): Promise<LiveSession | null>;
  /**
   * The identity of a token's person, found or made: the same as after a sign-in with the same issuer. `whyNoNewPerson`
   * is called before a person is made; null: one may be made.
   */
  findByToken(
    person: TokenPerson,
    whyNoNewPerson: () => Promise<Refusal | null>,
  ): Promise<TokenPersonFound>;
  /** The person's subject at an issuer; null if they have no identity there. */
  readSubject(identity_id: string, issuer: string): Promise<string | null>;
  /** Starts a sign-in. Writes to no store. */
  startSignIn(start: SignInStart): Promise<SignInStarted>;
  /** Completes the sign-in whose provider response `request` has, at `/signin/callback/{method_id}`. */
  finishSignIn(request: Request, method_id: string, base_url: string): Promise<SignInFinished>;
  /** Ends every session that a request's cookies prove, and deletes the cookies. */
  signOut(request: Request): Promise<SignedOut>;
  /** Ends every session of a person and returns them. Session tokens already issued work until they expire. */
  signOutEverywhere(identity_id: string): Promise<readonly Session[]>;
  /** The newest sessions of a person that have not ended, newest use first. */
  listSessions(identity_id: string): Promise<readonly ListedSession[]>;
  /** The same sessions in the order of their ids, from the first id after `after_id`. For exports. */
  pageSessions(
    identity_id: string,
    after_id: string,
    limit: number,
  ): Promise<readonly ListedSession[]>;
  /**
   * Ends one session of a person and returns it. A session of another person, or one that has ended, is not
   * changed.
   */
  endSession(identity_id: string, session_id: string): Promise<readonly Session[]>;
  /** Deletes a bounded number of expired sessions, oldest first. */
  deleteEndedSessions(): Promise<{ readonly deleted_sessions: number }>;
  /**
   * Deletes a person and their sessions; may be repeated. The identity is never used again. If the person signs
   * in again, by any method they ever had, they get another identity. Its account gets no starter credits and
   * owes what the deleted account owed.
   */
  forgetPerson(identity_id: string, owed: Owed): Promise<void>;
  /**
   * Sets what a person's deleted account owes. The account of `taken_by` took the debt over (null: none did), so the caller
   * changes it there too. Null: nothing is known of such a debt.
   */
  changeDebt(
    identity_id: string,
    credits: number,
  ): Promise<{ readonly id: string; readonly taken_by: string | null } | null>;
  /** The person with this identity, or null. */
  readPerson(identity_id: string): Promise<Person | null>;
  /** Keeps the language that a person chose for pages. */
  chooseLanguage(identity_id: string, language: Language): Promise<void>;
  /** Identities after this one, in order. For the schedule and operators. */
  listIdentities(after_id: string, limit: number): Promise<readonly string[]>;
  /** The number of people. Reads every row. */
  countPeople(): Promise<number>;
  /** Names and addresses of people by identity. Unknown identities are left out. For operators' lists. */
  readPeople(identity_ids: readonly string[]): Promise<ReadonlyMap<string, Profile>>;
  /** Identities of people whose e-mail address starts with `prefix`, ignoring case; at most `limit`. */
  findByEmail(prefix: string, limit: number): Promise<readonly string[]>;
  /** Identities of people with this e-mail address, verified or not, ignoring case; at most `limit`. */
  findByAddress(address: string, limit: number): Promise<readonly string[]>;
  /** Identities of people whose e-mail address is in this domain, newest first; at most `limit`. */
  findByDomain(domain: string, limit: number): Promise<readonly string[]>;
  /**
   * Unlinks a method from a session's person, but never the last one. Ends the other sessions that were started
   * with it; this session no longer names it. Upstream tokens of a sign-in in progress are dropped.
   */
  unlink(session: Session, provider: string): Promise<Unlinked>;
  /** Null: nobody can sign in with a passkey. */
  readonly passkeys: PasskeyPort | null;
  /** Signs in a local user by e-mail address only; null if the development sign-in is off. */
  readonly signInDevelopment:
    | ((email: string, request: Request, base_url: string) => Promise<SignedIn>)
    | null;
}
