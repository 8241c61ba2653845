/** The OAuth server's part of an account: connections of clients, and the token families that follow from them. */
import type { ExchangeProblem, Narrowing } from "../../domain/token_exchange.ts";
import type { Credential } from "../../domain/proof.ts";
import type { FamilyState, GrantProblem, PresentedCode } from "../../domain/token_family.ts";
import type { SpendingCap } from "../../domain/spending_cap.ts";
import type { ListedCap } from "./allowances.ts";

/** The identity of a connection: a client, and a resource or (null) our API. */
interface ConnectionKey {
  readonly client_id: string;
  readonly resource: string | null;
}

export interface FindConnectionRequest extends ConnectionKey {
  /** The app that owns the resource; null: our API. */
  readonly resource_app_slug: string | null;
}

/** A connection as its holder sees it before they decide again. */
export interface Connection {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly app_slugs: readonly string[] | null;
  readonly caps: readonly ListedCap[];
  readonly expires_at_ms: number;
}

/** The holder's choices on the consent page. */
export interface ConnectionLimits {
  /** The slugs of the only apps that the client may act for; null: all. Undefined: not asked, so an existing limit stays. */
  readonly app_slugs: readonly string[] | null | undefined;
  /** Undefined: not asked, so existing caps stay. */
  readonly caps: readonly SpendingCap[] | undefined;
  /** When the allowance ends, in milliseconds since the epoch. */
  readonly expires_at_ms: number;
}

export interface AuthorizeClientRequest extends FindConnectionRequest {
  /** The host that vouches for the client; null: a registered client. */
  readonly client_host: string | null;
  /** The client's name, as the holder sees it. */
  readonly client_name: string;
  readonly redirect_uri: string;
  /** The scopes of this authorization. */
  readonly scopes: readonly string[];
  /** Null: the holder was not asked again, so the existing allowance stays as it is. */
  readonly limits: ConnectionLimits | null;
  /** PKCE's S256 challenge; null: none. */
  readonly code_challenge: string | null;
  /** Whether the client must authenticate with an assertion, because its document says so. */
  readonly needs_assertion: boolean;
  /** SHA-256 of the code in base64url. */
  readonly code_hash: string;
  readonly nonce: string | null;
  /** When the person signed in. */
  readonly auth_time_ms: number;
  /** The session that approves, and its sign-in method; null: the method was unlinked since. */
  readonly session_id: string;
  readonly signin_method: string | null;
  /** When that session ends, if the client's tokens end with it; null: they outlive it. */
  readonly session_ends_at_ms: number | null;
}

export interface AuthorizedClient {
  readonly family_id: string;
}

export interface RedeemCodeRequest extends PresentedCode {
  readonly code_hash: string;
  /** Whether the client authenticated with an assertion. */
  readonly client_asserted: boolean;
}

export interface RefreshRequest {
  readonly family_id: string;
  readonly generation: number;
  readonly client_id: string;
  /** Whether the client authenticated with an assertion. */
  readonly client_asserted: boolean;
  /** Undefined: not sent. Null: our API. */
  readonly resource: string | null | undefined;
  /** The requested scopes, which must be among those of the family; undefined: not sent. */
  readonly scopes: readonly string[] | undefined;
}

/** The limits of an allowance: its spending, its apps and its end. */
export interface SpendingTerms {
  readonly caps: readonly SpendingCap[];
  /** Null: all apps. */
  readonly app_slugs: readonly string[] | null;
  readonly ends_at_ms: number;
}

/** All that the tokens of a family's last response are derived from. */
export interface FamilyTokens extends FamilyState, ConnectionKey {
  readonly family_id: string;
  /** This client, and those whose tokens were exchanged for it. */
  readonly client_ids: readonly string[];
  readonly scopes: readonly string[];
  readonly nonce: string | null;
  readonly auth_time_ms: number;
  readonly expires_at_ms: number;
  /** The limits of the allowance itself; those of its ancestors bind it too. */
  readonly terms: SpendingTerms;
  /** Whether they are of a child. An exchange says nothing about who signed in, so they have no ID token. */
  readonly is_exchanged: boolean;
}

/** Tokens, or the reason for refusing them. A problem is a value, because a stolen token ends its family: that is a change. */
export type Granted =
  | { readonly kind: "tokens"; readonly tokens: FamilyTokens }
  | { readonly kind: "refused"; readonly problem: GrantProblem }
  | WiderScope;

/** The request has these scopes beyond what the token permits. */
export interface WiderScope {
  readonly kind: "refused";
  readonly problem: "wider_scope";
  readonly scopes: readonly string[];
}

/** Ends what a client holds: a token family, or an allowance that it exchanged. */
export interface EndGrantRequest {
  readonly credential: Credential;
  readonly client_id: string;
  /** Whether the client authenticated with an assertion. */
  readonly client_asserted: boolean;
}

/** A client exchanges the caller's token for one that may do the same, or less. */
export interface ExchangeRequest extends Narrowing {
  /** The credential of the exchanged token. */
  readonly credential: Credential;
  /** The client that authenticated; null: none, which only a personal access token may. */
  readonly client_id: string | null;
  readonly client_asserted: boolean;
  /** Whether the client proved itself. */
  readonly client_proven: boolean;
  /** The exchanged token: a refresh token with its generation, or an access token, which expires then. */
  readonly subject:
    | { readonly kind: "refresh"; readonly generation: number }
    | { readonly kind: "access"; readonly expires_at_ms: number };
  /** Undefined: not sent. Null: our API. */
  readonly resource: string | null | undefined;
  /** Whether the client's app owns the resource that the exchanged token is for. */
  readonly owns_audience: boolean;
  /** The app that requests to charge for its resource, with a token of our API; null: none does. */
  readonly charging_app: string | null;
  /** Whether the new token has the form of a personal access token, which is always of our API and of a child. Absent: no. */
  readonly is_personal?: boolean;
}

/**
 * `same`: the request narrows nothing, so the new token stands for what the exchanged one does. `child`: it stands for a
 * new allowance, with a token family if a client holds it. `charge`: with it the app of a resource charges for the
 * connection. `refused`: nothing changed.
 */
export type Exchanged =
  | {
      readonly kind: "same";
      /** Null: our API. */
      readonly resource: string | null;
      readonly scopes: readonly string[];
      readonly expires_at_ms: number;
      /** The clients of the exchanged token's allowance and its ancestors. */
      readonly client_ids: readonly string[];
    }
  | {
      readonly kind: "child";
      readonly allowance_id: string;
      readonly scopes: readonly string[];
      readonly expires_at_ms: number;
      readonly tokens: FamilyTokens | null;
      /** Whether it outlives the exchanged token, so that its client gets a refresh token. */
      readonly is_lasting: boolean;
    }
  | {
      readonly kind: "charge";
      readonly expires_at_ms: number;
      /** As of `same`. */
      readonly client_ids: readonly string[];
    }
  | {
      readonly kind: "refused";
      readonly problem: Exclude<ExchangeProblem, "wider_scope"> | GrantProblem;
    }
  | WiderScope;
