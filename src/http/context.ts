/** The values that middleware sets for the handlers after it. */
import type { Context } from "hono";
import type { createFactory } from "hono/factory";
import { HOLDER, type Caller } from "../account/contract.ts";
import type { Person, ResumedSession } from "../identity/port.ts";
import type { OperatorRights } from "../domain/operators.ts";
import type { AppProof, Proof, SessionProof, UnverifiedAppProof } from "../domain/proof.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Services } from "./services.ts";

/**
 * The account holder, an app's session of them, or a personal access token of theirs. A cookie always proves a session: a personal access token is
 * accepted only as a bearer token.
 */
export type UserCaller = {
  readonly identity_id: string;
  /** The expiry of the token behind `proof`, in milliseconds since the epoch. */
  readonly expires_at_ms: number;
} & (
  | { readonly via: "bearer"; readonly proof: Proof }
  | { readonly via: "cookie"; readonly proof: SessionProof }
);

/** An app's server, acting in the account that its request names. Only routes with `authenticateUserOrApp` accept it. */
export interface AppCaller {
  readonly identity_id: string;
  readonly via: "bearer";
  readonly proof: AppProof | UnverifiedAppProof;
}

export interface AppEnvironment {
  Bindings: Env;
  Variables: {
    services: Services;
    /** The service's own origin: `BASE_URL`, or without it (in development) the origin of the request. */
    base_url: string;
    request_id: string;
    refusal_page: RefusalPage;
    caller: UserCaller | AppCaller;
    /** The app whose key the request has, if it concerns the app itself and no account. */
    own_app?: AppProof;
    /** On pages that require sign-in, or load the session: the session, which is live. */
    session: ResumedSession;
    /** On operators' routes and pages with navigation: the caller's rights as an operator; null: none. */
    operator?: OperatorRights | null;
    /**
     * On OAuth endpoints: who sent the request was examined, which counts its own failures. `client_id`: of a client that
     * authenticated; `identity_id`: the account of the token or code that the request presents.
     */
    sender?: { readonly client_id: string | null; readonly identity_id: string | null };
    /** The code of the refusal that the response has, for the log. */
    refusal_code?: string;
    /** On operators' routes of one account: its holder. */
    holder: Person;
  };
}

/** Renders a refusal as a page. */
export type RefusalPage = (context: AppContext, refusal: Refusal) => Response | Promise<Response>;

export type AppContext = Context<AppEnvironment>;

/** The caller in the terms of the account. Only after `authenticate`. */
export function callerOf(context: AppContext): Caller {
  return callerFrom(context.get("caller").proof);
}

export function callerFrom(proof: Proof | AppProof | UnverifiedAppProof): Caller {
  switch (proof.kind) {
    case "session":
    case "app_session":
      return HOLDER;
    case "personal_token":
      return { kind: "personal_token", credential: proof.credential };
    case "app":
      return { kind: "app", app_slug: proof.app_slug, key_hash: proof.key_hash };
    case "unverified_app":
      return { kind: "unverified_app", key_hash: proof.key_hash };
  }
}

/** The caller's account. Only after `authenticate`. */
export function accountOf(context: AppContext): ReturnType<Services["accounts"]> {
  return context.get("services").accounts(context.get("caller").identity_id);
}

type Factory = ReturnType<typeof createFactory<AppEnvironment>>;

/**
 * Creates handlers and middleware with the types of {@link AppEnvironment}. The functions of `hono/factory` do the same,
 * and bring two routers into the bundle.
 */
export const factory: Pick<Factory, "createMiddleware" | "createHandlers"> = {
  createMiddleware: (middleware) => middleware,
  createHandlers: ((...handlers: unknown[]) => handlers) as Factory["createHandlers"],
};
