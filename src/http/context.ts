/** What middleware leaves for the handlers after it. */
import type { Context } from "hono";
import { createFactory } from "hono/factory";
import { HOLDER, type Caller } from "../account/contract.ts";
import type { Person, Session } from "../identity/port.ts";
import type { AppProof, Proof, SessionProof } from "../domain/proof.ts";
import type { RefusalPage } from "./refusal_page.ts";
import type { Services } from "./services.ts";

/**
 * Who calls, what stands behind them, and how it came. A cookie always proves a session: a personal
 * access token is accepted as a bearer token only.
 */
export type Principal = {
  readonly identity_id: string;
  /** When the token that proves it runs out by itself, in milliseconds since the epoch. */
  readonly expires_at_ms: number;
} & (
  | { readonly via: "bearer"; readonly proof: Proof }
  | { readonly via: "cookie"; readonly proof: SessionProof }
);

/** An app's server, in the account that it named. Few routes let one in: see `authenticateParty`. */
export interface AppPrincipal {
  readonly identity_id: string;
  readonly via: "bearer";
  readonly proof: AppProof;
}

export interface AppEnvironment {
  Bindings: Env;
  Variables: {
    services: Services;
    /** The service's own origin: `BASE_URL`, in development the request's. */
    base_url: string;
    request_id: string;
    /** The page for a refusal, where a person reads it. */
    refusal_page: RefusalPage;
    principal: Principal | AppPrincipal;
    /** On pages for the signed-in person: their session, known to live. */
    session: Session;
    /** On pages with navigation: whether the signed-in person operates the service. */
    operates?: boolean;
    /** On operators' addresses of one account: whose it is. */
    subject: Person;
  };
}

export type AppContext = Context<AppEnvironment>;

/** The caller as the account knows it. Only after `authenticate`. */
export function callerOf(context: AppContext): Caller {
  return callerFrom(context.get("principal").proof);
}

/** The caller that a proof stands for. */
export function callerFrom(proof: Proof | AppProof): Caller {
  switch (proof.kind) {
    case "session":
      return HOLDER;
    case "personal_token":
      return { kind: "personal_token", personal_token_id: proof.personal_token_id };
    case "app":
      return { kind: "app", app_slug: proof.app_slug };
  }
}

/** The caller's account. Only after `authenticate`. */
export function accountOf(context: AppContext): ReturnType<Services["accounts"]> {
  return context.get("services").accounts(context.get("principal").identity_id);
}

/** Makes handlers and middleware that know the environment above. */
export const factory = createFactory<AppEnvironment>();
