/** Whether anything is sold here: until the settings say so, money's addresses do not exist. */
import { refuseByAccept } from "../../refusal_page.ts";
import { factory, type AppContext } from "../../context.ts";
import type { Services } from "../../services.ts";

/** Goes before everything else of such an address, so that it tells strangers nothing either. */
export const requirePayments = factory.createMiddleware(async (context, next) =>
  context.get("services").payments === null
    ? refuseByAccept(context, { code: "not_found", missing: "payments" })
    : next(),
);

/** The till. Only after {@link requirePayments}. */
export function paymentsOf(context: AppContext): NonNullable<Services["payments"]> {
  const { payments } = context.get("services");
  if (payments === null) throw new Error("nothing is sold here");
  return payments;
}
