/** Every page in the service's own name and colour. */
import type { JSXNode } from "hono/jsx";
import { renderIn } from "./shell.ts";
import { factory } from "../../http/context.ts";

/**
 * Puts what all pages show around whatever a handler renders. It stands in front of `context.html`
 * rather than in each handler, so that no page can forget it.
 */
export const dressPages = factory.createMiddleware(async (context, next) => {
  const html = context.html.bind(context) as (page: string, ...rest: unknown[]) => Response;
  const dressed = (page: JSXNode, ...rest: unknown[]): Response => {
    const { service_name, service_accent } = context.get("services").config;
    const signed_in = context.get("session") !== undefined;
    const release = context.env.RELEASE?.id ?? "";
    const operates = context.get("is_operator") === true;
    const shell = { service_name, service_accent, release, signed_in, operates };
    return html(renderIn(shell, page), ...rest);
  };
  context.html = dressed;
  await next();
});
