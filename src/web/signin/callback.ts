/** `GET /signin/callback/{id}`: finishes a sign-in with a provider's response. */
import { factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { respondFinished } from "./finished.tsx";

export const finishSignIn = factory.createHandlers(async (context) => {
  const { identity } = context.get("services");
  const method_id = context.req.param("id") ?? "";
  const finished = await identity.finishSignIn(context.req.raw, method_id, context.get("base_url"));
  if (finished.kind === "unknown_method") return refuseWithPage(context, { code: "not_found" });
  const name = identity.sign_in_methods.find(({ id }) => id === method_id)?.name ?? method_id;
  return respondFinished(context, finished, name);
});
