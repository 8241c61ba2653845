import { accountsOfRequest } from "../../account/clients/accounts.ts";
import { locationHintOf } from "../../domain/location_hint.ts";
import { factory } from "../context.ts";
import { refuseByAccept } from "../refusal_page.ts";
import type { ServicesFor } from "../services.ts";

/** Sets the services and the base URL. With wrong settings every request is refused, and the response names the variables. */
export const loadServices = (servicesFor: ServicesFor) =>
  factory.createMiddleware(async (context, next) => {
    const services = servicesFor(context.env);
    if (!services.ok) {
      const variables = services.refusal.problems.map(({ variable }) => variable);
      return refuseByAccept(context, { code: "misconfigured", variables: [...new Set(variables)] });
    }
    const accounts = accountsOfRequest(services.value.accounts, {
      request_id: context.get("request_id"),
      location_hint: locationHintOf(context.req.raw.cf),
      noteCall: () => context.set("account_calls", (context.get("account_calls") ?? 0) + 1),
    });
    context.set("services", { ...services.value, accounts });
    context.set("base_url", services.value.config.base_url ?? new URL(context.req.url).origin);
    return next();
  });
