/** Routes for payments. They exist only if the settings configure payments. */
import { refuseByAccept } from "../refusal_page.ts";
import { factory, type AppContext } from "../context.ts";
import type { Services } from "../services.ts";

/** The first middleware of such a route, so that every caller gets 404. */
export const requirePayments = factory.createMiddleware(async (context, next) =>
  context.get("services").payments === null
    ? refuseByAccept(context, { code: "not_found", missing: "payments" })
    : next(),
);

/** The payment service. Only after {@link requirePayments}. */
export function paymentsOf(context: AppContext): NonNullable<Services["payments"]> {
  const { payments } = context.get("services");
  if (payments === null) throw new Error("payments are not configured");
  return payments;
}
