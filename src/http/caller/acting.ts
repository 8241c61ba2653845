/** The caller of a request as the one who acts in operators' use cases. */
import { credentialId, isOfAllowance } from "../../domain/proof.ts";
import { assertInvariant } from "../../domain/result.ts";
import type { Acting } from "../../operator/acting.ts";
import type { AppContext } from "../context.ts";

/** An operator acts by their identity, and an app by the id of its key. */
export async function actingOf(context: AppContext): Promise<Acting> {
  const services = context.get("services");
  const request_id = context.get("request_id");
  const own_app = context.get("own_app");
  if (own_app !== undefined) {
    const id = await services.app_records.readKeyId(own_app.key_hash);
    assertInvariant(id !== null, "a key keeps its row");
    const actor = { id: `app_key:${id}`, personal_token: null, rights: null };
    return { services, actor, request_id };
  }
  const { identity_id, proof } = context.get("caller");
  const personal_token = isOfAllowance(proof) ? credentialId(proof.credential) : null;
  const rights = context.get("operator") ?? null;
  return { services, actor: { id: identity_id, personal_token, rights }, request_id };
}
