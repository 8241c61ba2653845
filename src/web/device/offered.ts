/** What the forms that give a token offer to a person. */
import { readOperatorRights } from "../../http/caller/operator.ts";
import type { AppContext } from "../../http/context.ts";
import type { Offered } from "./choices.tsx";

export async function readOffered(context: AppContext): Promise<Offered> {
  const { apps, identity } = context.get("services");
  const [registered, operator] = await Promise.all([
    apps.all(),
    readOperatorRights(context, context.get("caller").identity_id),
  ]);
  return {
    registered_apps: [...registered.values()].map(({ slug, name }) => ({ slug, name })),
    upstream_names: identity.sign_in_methods.map(({ name }) => name),
    may_operate: operator !== null,
  };
}
