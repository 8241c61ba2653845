/**
 * The port to the adapter that signs people in. `set_cookies` always contains `Set-Cookie` values that the
 * response must carry.
 */

/** A signed-in browser. `id` is the `sid` of its session JWTs. */
export interface Session {
  readonly id: string;
  readonly identity_id: string;
}

/**
 * A session as its own browser proves it. `binding` goes into the JWT beside the session's cookie, and
 * says which cookie that is without giving it away.
 */
export interface BrowserSession extends Session {
  readonly binding: string;
}

/** The session that a browser's request proves. */
export type Resumption =
  | {
      readonly kind: "session";
      readonly session: BrowserSession;
      readonly set_cookies: readonly string[];
    }
  | { readonly kind: "none" };

/** A sign-in that succeeded. */
export interface SignedIn {
  readonly session: BrowserSession;
  readonly set_cookies: readonly string[];
}

/** A method of signing in: the button's words, and the `{id}` of `/signin/{id}`. */
export interface SignInMethod {
  readonly id: string;
  readonly name: string;
}

/** A sign-in about to start. */
export interface SignInStart {
  readonly method_id: string;
  /** The service's own origin; the way back is under it. */
  readonly base_url: string;
  /** Where the person goes at the end, checked against the allowlist; null: to `/account`. */
  readonly redirect_to: string | null;
  /** The signed-in person who asks to sign in this way too; null: a plain sign-in. */
  readonly link_to: Session | null;
}

/** The browser must go to `to`, an address of the provider, which sends it back to the callback. */
export interface ProviderRedirect {
  readonly to: string;
  readonly set_cookies: readonly string[];
}

export type SignInStarted =
  | ({ readonly kind: "redirect" } & ProviderRedirect)
  | { readonly kind: "unknown_method" };

/** Why a sign-in came to nothing. */
export type SignInFailure =
  /** The person, or the provider's policy, said no. */
  | "cancelled"
  /** No flow of this browser is open: it took too long, is done already, or began elsewhere. */
  | "expired"
  /** The answer belongs to another flow or comes from another provider than asked. */
  | "mismatch"
  /** The provider did not answer in time, or says it cannot now. */
  | "provider_unreachable"
  /** The provider refused the code or our client, or its answer does not hold up. */
  | "provider_failed"
  /** The provider's id stood for another issuer before; the operator has to give this one its own. */
  | "issuer_changed"
  /** The identity to link already belongs to someone else. */
  | "linked_elsewhere"
  /** The person already has another identity of this provider. */
  | "linked_another"
  /** The session that asked to link ended, or another person signed in meanwhile. */
  | "link_session_ended";

export type SignInFinished =
  | {
      readonly kind: "signed_in";
      readonly session: BrowserSession;
      readonly set_cookies: readonly string[];
      readonly redirect_to: string | null;
    }
  | { readonly kind: "linked"; readonly set_cookies: readonly string[] }
  | {
      readonly kind: "failed";
      readonly failure: SignInFailure;
      readonly set_cookies: readonly string[];
      readonly redirect_to: string | null;
      /** Whether it was to link a further way rather than to sign in. */
      readonly linking: boolean;
    }
  | { readonly kind: "unknown_method" };

export interface SignedOut {
  readonly set_cookies: readonly string[];
  /** Tokens and streams of these sessions must end too. */
  readonly ended_sessions: readonly Session[];
}

/** A person as `/account` shows them to themselves. */
export interface Person {
  readonly identity_id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly email_verified: boolean;
  /** The method whose provider vouches for the address; null where nobody does. */
  readonly vouched_by: string | null;
  /** How they can sign in, oldest first. `provider` is a method's id, or the name of one since removed. */
  readonly linked: readonly { readonly provider: string; readonly linked_at_ms: number }[];
}

/** What a list shows of a person. */
export type Profile = Pick<Person, "name" | "email">;

/** A browser session as its owner sees it. What is not known of it is null. */
export interface ListedSession {
  readonly id: string;
  readonly created_at_ms: number;
  /** Late by at most a day. */
  readonly last_used_at_ms: number | null;
  /** The browser and its system in words, and where it was, as of its last use. */
  readonly browser: string | null;
  readonly city: string | null;
  readonly country: string | null;
}

/** A session that lives. */
export interface LivingSession {
  /** When it ends by itself, as far as is known now, in milliseconds since the epoch. */
  readonly ends_at_ms: number;
  /** The method that it came through; null: one that was unlinked since. */
  readonly signin_method: string | null;
}

export type Unlinked =
  | {
      readonly kind: "unlinked";
      /** The other sessions that were started with it. Their tokens and streams must end too. */
      readonly ended_sessions: readonly Session[];
    }
  | { readonly kind: "refused"; readonly reason: "only_one_left" | "not_linked" };

/** What a deleted account owed, in credits, more than 0. Owed again once, whatever is repeated. */
export interface Debt {
  readonly id: string;
  readonly credits: number;
}

/** What a deleted account owed, in credits, and the ids of the debts that it had taken over: they are part of it. */
export interface Owed {
  readonly credits: number;
  readonly debt_ids: readonly string[];
}

export interface IdentityPort {
  /** The methods of signing in, in the order of their buttons. */
  readonly sign_in_methods: readonly SignInMethod[];
  /**
   * The bindings of a request's session cookies, whether those sessions live or not. Reads no store: a
   * JWT beside them says the rest.
   */
  sessionBindings(request: Request): Promise<readonly string[]>;
  /** Finds and renews the session that a request's cookies prove. May read a store. */
  resume(request: Request): Promise<Resumption>;
  /** Whether a session of this person still lives. Reads a store: not for the usual request. */
  sessionIsAlive(session_id: string, identity_id: string): Promise<boolean>;
  /** A session of this person; null where it does not live. Reads a store. */
  readSession(session_id: string, identity_id: string): Promise<LivingSession | null>;
  /** Starts a sign-in; writes to no store. */
  startSignIn(start: SignInStart): Promise<SignInStarted>;
  /** Finishes the sign-in whose answer `request` brings to `/signin/callback/{method_id}`. */
  finishSignIn(request: Request, method_id: string, base_url: string): Promise<SignInFinished>;
  /** Ends every session that a request's cookies prove, and clears its cookies. */
  signOut(request: Request): Promise<SignedOut>;
  /**
   * Ends every session of a person, and says which. Session JWTs already out work until they run out.
   */
  signOutEverywhere(identity_id: string): Promise<readonly Session[]>;
  /** The living sessions of a person, the last used first. */
  listSessions(identity_id: string): Promise<readonly ListedSession[]>;
  /** Ends one session of a person, and says so; one not theirs, or ended, is left as it is. */
  endSession(identity_id: string, session_id: string): Promise<readonly Session[]>;
  /** Clears away a bounded part of the sessions that ended by themselves, oldest first. */
  deleteEndedSessions(): Promise<{ readonly deleted_sessions: number }>;
  /**
   * Forgets a person with all their sessions; may be done again. Nobody ever has the identity again: a
   * person who signs in again, by any method they ever had, gets another. Their account takes no starter
   * credits, and owes what the deleted account owed.
   */
  forgetPerson(identity_id: string, owed: Owed): Promise<void>;
  /** The person of an identity; null where nobody has it. */
  readPerson(identity_id: string): Promise<Person | null>;
  /** Identities after one, in order. For the schedule and operators. */
  listIdentities(after_id: string, limit: number): Promise<readonly string[]>;
  /** How many people there are. Reads all of them. */
  countPeople(): Promise<number>;
  /** Names and addresses of people by identity; who is not there is left out. For operators' lists. */
  readPeople(identity_ids: readonly string[]): Promise<ReadonlyMap<string, Profile>>;
  /** Identities of people whose e-mail address begins so, whatever its case; no more than `limit`. */
  findByEmail(prefix: string, limit: number): Promise<readonly string[]>;
  /**
   * Takes a way to sign in from a session's person, but never the last one, and ends the other sessions
   * that came through it; this one does not say any more that it did. What a sign-in under way brings of it is dropped.
   */
  unlink(session: Session, provider: string): Promise<Unlinked>;
  /** Signs in a local user by e-mail address alone; null where that is not allowed. */
  readonly signInDevelopment:
    | ((email: string, request: Request, base_url: string) => Promise<SignedIn>)
    | null;
}
