/** The routes of the app, for tests that apply to every address. */
import { expect } from "vitest";
import { createApp } from "../../../src/app.ts";
import { servicesFor } from "../../../src/services.ts";

/** One method of one address. */
export interface Route {
  readonly method: string;
  /** As declared in the app: `/api/jobs/:id`. */
  readonly path: string;
  /** With a value for each parameter. */
  readonly address: string;
}

const PARAMETERS: Readonly<Record<string, string>> = {
  ":page": "operate",
  ":approval": "unknown-request",
  ":hash": "0123456789abcdef0123456789abcdef",
  ":id": "018f0000-0000-7000-8000-000000000000",
  ":job_id": "018f0000-0000-7000-8000-000000000000",
  ":identity_id": "nobody",
  ":provider": "acme",
  ":client": "unknown-client",
  ":segment": "000000000001-000000000002.jsonl.gz",
  ":slug": "demo",
};

/** Every route once, without middleware, because middleware serves no requests itself. */
export const ROUTES: readonly Route[] = [
  ...new Map(
    createApp(servicesFor)
      .routes.filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => [`${method} ${path}`, { method, path, address: fill(path) }]),
  ).values(),
];

/** The routes of the API. */
export const API_ROUTES = ROUTES.filter(({ path }) => path.startsWith("/api/"));

/**
 * Expects that `rule` holds on each route, and names every route on which it does not. One test for all routes has its
 * people and tokens once, not for each of 170 routes. The headers of `network` are another network's for each route,
 * because the requests of one network are limited.
 */
export async function expectOnEach<T extends Pick<Route, "method" | "path">>(
  routes: readonly T[],
  rule: (route: T, network: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  const broken: string[] = [];
  for (const [index, route] of routes.entries()) {
    try {
      await rule(route, { "CF-Connecting-IP": `2001:db8:1:${index.toString(16)}::1` });
    } catch (error) {
      broken.push(`${route.method} ${route.path}: ${String(error)}`);
    }
  }
  expect(broken).toEqual([]);
  expect(routes.length).toBeGreaterThan(0);
}

function fill(path: string): string {
  return path.replace(/:\w+/g, (name) => {
    const value = PARAMETERS[name];
    if (value === undefined) throw new Error(`what stands for ${name}? Say so here`);
    return value;
  });
}
