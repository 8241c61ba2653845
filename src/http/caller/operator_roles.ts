/** The role that each route of operators requires: the one place that declares it, for the API and the console. */
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
}

/** The page of a form requires the same role as the form. */
export const ROUTE_ROLES: Readonly<Record<string, OperatorRole>> = {
  "GET /api/admin/accounts": "viewer",
  "POST /api/admin/accounts/suspend": "support",
  "GET /api/admin/accounts/:identity_id": "viewer",
  "DELETE /api/admin/accounts/:identity_id": "admin",
  "GET /api/admin/accounts/:identity_id/export": "viewer",
  "GET /api/admin/accounts/:identity_id/jobs": "viewer",
  "GET /api/admin/accounts/:identity_id/jobs/:job_id": "viewer",
  "GET /api/admin/accounts/:identity_id/purchases": "viewer",
  "GET /api/admin/accounts/:identity_id/ledger": "viewer",
  "POST /api/admin/accounts/:identity_id/jobs/:job_id/refund": "support",
  "POST /api/admin/accounts/:identity_id/credits": "support",
  "POST /api/admin/accounts/:identity_id/plan": "admin",
  "POST /api/admin/accounts/:identity_id/suspend": "support",
  "POST /api/admin/accounts/:identity_id/restore": "support",
  "POST /api/admin/accounts/:identity_id/signout": "support",
  "POST /api/admin/accounts/:identity_id/rebuild": "admin",
  "DELETE /api/admin/accounts/:identity_id/personal-tokens/:id": "support",
  "GET /api/admin/apps": "viewer",
  "PUT /api/admin/apps/:slug": "admin",
  "GET /api/admin/apps/:slug/keys": "viewer",
  "POST /api/admin/apps/:slug/keys": "admin",
  "DELETE /api/admin/apps/:slug/keys/:id": "admin",
  // An app's own key may use these too: see `app_owner.ts`.
  "GET /api/admin/apps/:slug/webhooks": "viewer",
  "PUT /api/admin/apps/:slug/webhooks/:id": "admin",
  "DELETE /api/admin/apps/:slug/webhooks/:id": "admin",
  "POST /api/admin/apps/:slug/webhooks/:id/rotate": "admin",
  "POST /api/admin/apps/:slug/webhooks/:id/test": "admin",
  "GET /api/admin/apps/:slug/webhooks/:id/deliveries": "viewer",
  "POST /api/admin/apps/:slug/webhooks/:id/replay": "admin",
  "GET /api/admin/apps/:slug/clients": "viewer",
  "GET /api/admin/apps/:slug/clients/:id": "viewer",
  "PUT /api/admin/apps/:slug/clients/:id": "admin",
  "DELETE /api/admin/apps/:slug/clients/:id": "admin",
  "POST /api/admin/apps/:slug/clients/:id/secret": "admin",
  "GET /api/admin/apps/:slug/resources": "viewer",
  "GET /api/admin/apps/:slug/resources/:id": "viewer",
  "PUT /api/admin/apps/:slug/resources/:id": "admin",
  "DELETE /api/admin/apps/:slug/resources/:id": "admin",
  "POST /api/admin/rebuild": "admin",
  "POST /api/admin/payments/reconcile": "admin",
  "GET /api/admin/jobs": "viewer",
  "GET /api/admin/stats": "viewer",
  "GET /api/admin/money": "viewer",
  "GET /api/admin/health": "viewer",
  "GET /api/admin/audit": "viewer",
  "GET /api/admin/operators": "viewer",

  "GET /console": "viewer",
  "GET /console/accounts": "viewer",
  "GET /console/jobs": "viewer",
  "GET /console/audit": "viewer",
  "GET /console/audit.csv": "viewer",
  "GET /console/money": "viewer",
  "GET /console/money.csv": "viewer",
  "GET /console/operators": "viewer",
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
  "GET /console/apps": "viewer",
  "GET /console/apps/:slug": "viewer",
  ...formRoles("/console/new-app", "admin"),
  "POST /console/apps/:slug/settings": "admin",
  "POST /console/apps/:slug/keys": "admin",
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

/** @throws if a route of operators declares no role, so that a build with such a route never starts. */
export function assertRolesDeclared(routes: readonly Route[]): void {
  const undeclared = routes
    .filter(isOfOperators)
    .map(nameOf)
    .find((name) => !Object.hasOwn(ROUTE_ROLES, name));
  if (undeclared !== undefined) throw new Error(`ROUTE_ROLES has no role for ${undeclared}`);
}

/** The highest role that a route of the request requires. An address without a route requires the lowest one. */
export function neededRole(context: AppContext): OperatorRole {
  const roles = matchedRoutes(context)
    .filter(isOfOperators)
    .map((route) => ROUTE_ROLES[nameOf(route)] ?? "admin");
  return OPERATOR_ROLES.findLast((role) => roles.includes(role)) ?? "viewer";
}

/** The refusal of an operator whose role is too low for the request; null if it suffices. */
export function roleRefusal(context: AppContext, rights: OperatorRights): Refusal | null {
  const role = neededRole(context);
  return includesRole(rights.role, role) ? null : { code: "role_required", role };
}
