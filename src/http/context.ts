/** The values that middleware sets for the handlers after it. */
import type { Context } from "hono";
import type { createFactory } from "hono/factory";
import type { Caller, RequestCaller } from "../account/contract.ts";
import type { Person, ResumedSession } from "../identity/port.ts";
import type { OperatorRights } from "../domain/operators.ts";
import type { AppProof, Proof, SessionProof } from "../domain/proof.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { TopUpState } from "../domain/top_up.ts";
import type { Services } from "./services.ts";

/**
 * The account holder, an app's session of them, or a token of one of their allowances. A cookie always proves a session:
 * other tokens are accepted only as bearer tokens.
 */
export type UserCaller = {
  readonly identity_id: string;
  /** The same caller in the terms of the account: see `caller/account_caller.ts`. */
  readonly account_caller: RequestCaller;
  /** The expiry of the token behind `proof`, in milliseconds since the epoch. */
  readonly expires_at_ms: number;
} & (
  | { readonly via: "bearer"; readonly proof: Proof }
  | { readonly via: "cookie"; readonly proof: SessionProof }
);

/** An app's server, acting in the account that its request names. Only routes with `authenticateUserOrApp` accept it. */
export interface AppCaller {
  readonly identity_id: string;
  readonly account_caller: RequestCaller;
  readonly via: "bearer";
  readonly proof: AppProof;
}

export interface AppEnvironment {
  Bindings: Env;
  Variables: {
    services: Services;
    /** The service's own origin: `BASE_URL`, or without it (in development) the origin of the request. */
    base_url: string;
    request_id: string;
    /** Calls of accounts' objects so far. */
    account_calls?: number;
    refusal_page: RefusalPage;
    caller: UserCaller | AppCaller;
    /** The app whose key the request has, if it concerns the app itself and no account. */
    own_app?: AppProof;
    /** On pages that require sign-in, or load the session: the session, which is live. */
    session: ResumedSession;
    /** On pages that require sign-in: the state of the person's automatic top-up; null: they have none. */
    top_up_state?: TopUpState | null;
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
  return context.get("caller").account_caller;
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
