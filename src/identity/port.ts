/** What the service asks of whoever signs people in. */

/** A signed-in browser. `id` is the `sid` of its session JWTs. */
export interface Session {
  readonly id: string;
  readonly identity_id: string;
}

/** What a browser's request proves. `set_cookies` are `Set-Cookie` values the answer must carry. */
export type Resumption =
  | { readonly kind: "session"; readonly session: Session; readonly set_cookies: readonly string[] }
  | { readonly kind: "none" };

/** A sign-in that succeeded. */
export interface SignedIn {
  readonly session: Session;
  readonly set_cookies: readonly string[];
}

export interface IdentityProvider {
  /** Finds and renews the session that a request's cookies prove. May read a store. */
  resume(request: Request): Promise<Resumption>;
  /** Whether a session has neither ended nor been ended. Reads a store. */
  sessionIsAlive(session_id: string, identity_id: string): Promise<boolean>;
  /** Signs in a local user by e-mail address alone; null where that is not allowed. */
  readonly signInDevelopment: ((email: string) => Promise<SignedIn>) | null;
}
