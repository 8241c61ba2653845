/** The role that a route of operators requires. */
import { matchedRoutes } from "hono/route";
import {
  includesRole,
  OPERATOR_ROLES,
  type OperatorRights,
  type OperatorRole,
} from "../../domain/operators.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { AppContext } from "../context.ts";

interface Route {
  readonly method: string;
  readonly path: string;
  readonly handler?: unknown;
}

/** The roles of the console. The page of a form requires the same role as the form. */
export const CONSOLE_ROLES: Readonly<Record<string, OperatorRole>> = {
  "GET /console": "viewer",
  "GET /console/search": "viewer",
  "GET /console/help": "viewer",
  "GET /console/help/:page": "viewer",
  "GET /console/accounts": "viewer",
  "GET /console/jobs": "viewer",
  "GET /console/audit": "viewer",
  "GET /console/audit.csv": "viewer",
  "GET /console/money": "viewer",
  "GET /console/money.csv": "viewer",
  "GET /console/differences": "viewer",
  "GET /console/operators": "viewer",
  "GET /console/requests": "viewer",
  "GET /console/accounts/:identity_id": "viewer",
  "GET /console/accounts/:identity_id/jobs/:job_id": "viewer",
  "POST /console/accounts/:identity_id/jobs/:job_id/refund": "support",
  ...formRoles("/console/accounts/suspend", "support"),
  ...formRoles("/console/accounts/:identity_id/credits", "support"),
  ...formRoles("/console/accounts/:identity_id/plan", "admin"),
  ...formRoles("/console/accounts/:identity_id/suspend", "support"),
  ...formRoles("/console/accounts/:identity_id/restore", "support"),
  ...formRoles("/console/accounts/:identity_id/signout", "support"),
  ...formRoles("/console/accounts/:identity_id/revoke-token", "support"),
  ...formRoles("/console/accounts/:identity_id/rebuild", "admin"),
  ...formRoles("/console/accounts/:identity_id/export", "viewer"),
  ...formRoles("/console/accounts/:identity_id/delete", "admin"),
  "GET /console/plans": "viewer",
  ...formRoles("/console/plans/plan", "admin"),
  ...formRoles("/console/plans/delete", "admin"),
  "GET /console/apps": "viewer",
  "GET /console/apps/:slug": "viewer",
  ...formRoles("/console/new-app", "admin"),
  "POST /console/apps/:slug/settings": "admin",
  "POST /console/apps/:slug/keys": "admin",
  ...formRoles("/console/apps/:slug/pause", "admin"),
  ...formRoles("/console/apps/:slug/continue", "admin"),
  ...formRoles("/console/apps/:slug/revoke-key", "admin"),
  "GET /console/apps/:slug/oauth": "viewer",
  ...formRoles("/console/apps/:slug/client", "admin"),
  ...formRoles("/console/apps/:slug/client-secret", "admin"),
  ...formRoles("/console/apps/:slug/resource", "admin"),
  ...formRoles("/console/apps/:slug/delete-client", "admin"),
  ...formRoles("/console/apps/:slug/delete-resource", "admin"),
  "GET /console/apps/:slug/webhooks": "viewer",
  "POST /console/apps/:slug/webhooks": "admin",
  "GET /console/apps/:slug/webhooks/:id": "viewer",
  "POST /console/apps/:slug/webhooks/:id": "admin",
  "POST /console/apps/:slug/webhooks/:id/test": "admin",
  "POST /console/apps/:slug/webhooks/:id/retry": "admin",
  "POST /console/apps/:slug/webhooks/:id/replay": "admin",
  ...formRoles("/console/apps/:slug/webhooks/:id/rotate", "admin"),
  ...formRoles("/console/apps/:slug/webhooks/:id/delete", "admin"),
};

function formRoles(path: string, role: OperatorRole): Readonly<Record<string, OperatorRole>> {
  return { [`GET ${path}`]: role, [`POST ${path}`]: role };
}

/** Whether a route belongs to operators. Middleware is registered for the method `ALL` and serves no request. */
function isOfOperators({ method, path }: Route): boolean {
  return method !== "ALL" && /^\/(api\/admin|console)(\/|$)/.test(path);
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

/** An endpoint of the API declares its role itself: see `api/endpoint.ts`. */
function roleOf(route: Route): OperatorRole | undefined {
  const declared = route.handler as { readonly role?: OperatorRole } | undefined;
  return declared?.role ?? CONSOLE_ROLES[nameOf(route)];
}

/** @throws if a route of operators declares no role, so that a build with such a route never starts. */
export function assertRolesDeclared(routes: readonly Route[]): void {
  const declared = new Set(routes.filter((route) => roleOf(route) !== undefined).map(nameOf));
  const undeclared = routes
    .filter(isOfOperators)
    .map(nameOf)
    .find((name) => !declared.has(name));
  if (undeclared !== undefined) throw new Error(`no role is declared for ${undeclared}`);
}

/** The highest role that a route of the request requires. An address without a route requires the lowest one. */
export function neededRole(context: AppContext): OperatorRole {
  const routes = matchedRoutes(context).filter(isOfOperators);
  const roles = routes.map(roleOf);
  const highest = OPERATOR_ROLES.findLast((role) => roles.includes(role));
  return highest ?? (routes.length === 0 ? "viewer" : "admin");
}

/** The refusal of an operator whose role is too low for the request; null if it suffices. */
export function roleRefusal(context: AppContext, rights: OperatorRights): Refusal | null {
  const role = neededRole(context);
  return includesRole(rights.role, role) ? null : { code: "role_required", role };
}
