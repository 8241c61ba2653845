/** The caller of a request in the terms of the account: decided once, where the request's caller is identified. */
import { HOLDER, type RequestCaller } from "../../account/contract.ts";
import { SHARED_AZP, type AllowanceProof, type Proof } from "../../domain/proof.ts";
import type { AppContext } from "../context.ts";
import { isOriginAllowed } from "../middleware/origins.ts";

export function allowanceCaller({ credential }: Pick<AllowanceProof, "credential">): RequestCaller {
  return { kind: "allowance", credential };
}

export async function accountCallerOf(context: AppContext, proof: Proof): Promise<RequestCaller> {
  switch (proof.kind) {
    case "session":
      return throughPage(context, proof.azp);
    case "app_session":
      return throughParty(context, proof.party);
    case "personal_token":
    case "connection":
      return allowanceCaller(proof);
  }
}

/**
 * A session of an app never acts as our own pages, whose origin its token may name. One that names neither the origin of an app
 * nor one of `ALLOWED_ORIGINS` may be of any app.
 */
async function throughParty(context: AppContext, party: string | null): Promise<RequestCaller> {
  const is_ours = party === context.get("base_url");
  return party !== null && !is_ours && (await isOriginAllowed(context, party))
    ? throughPage(context, party)
    : { kind: "page", app_slugs: null, of_any_app: true };
}

/** The holder on our own pages, or a page of another origin. Queries the registry's cache, and never a store per request. */
async function throughPage(context: AppContext, azp: string): Promise<RequestCaller> {
  if (azp === context.get("base_url")) return HOLDER;
  const { apps, config } = context.get("services");
  // Every host of the cookie's domain can read the shared token, so it may act for any app there.
  const app_slugs =
    azp === SHARED_AZP
      ? await apps.slugsUnder(config.cookie_domain ?? "")
      : await apps.slugsOfOrigin(azp);
  return { kind: "page", app_slugs };
}
