/** What middleware leaves for the handlers after it. */
import type { Context } from "hono";
import { createFactory } from "hono/factory";
import type { Session } from "../identity/port.ts";
import type { Services } from "../services.ts";

/** Who calls, and by which kind of proof. */
export interface Principal {
  readonly identity_id: string;
  readonly session_id: string;
  readonly via: "bearer" | "cookie";
}

export interface AppEnvironment {
  Bindings: Env;
  Variables: {
    services: Services;
    /** The service's own origin: `BASE_URL`, in development the request's. */
    base_url: string;
    request_id: string;
    principal: Principal;
    /** On pages for the signed-in person: their session, known to live. */
    session: Session;
  };
}

export type AppContext = Context<AppEnvironment>;

/** Makes handlers and middleware that know the environment above. */
export const factory = createFactory<AppEnvironment>();
