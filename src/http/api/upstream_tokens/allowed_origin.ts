/**
 * Which origins receive upstream tokens. A provider's token opens the person's account at a third party, so the
 * operator decides for each app, and a page that may use the rest of the API may not have it for that reason.
 */
import { coversCookieDomain, isAllowedOrigin } from "../../../domain/origins.ts";
import { SHARED_AZP, type SessionProof } from "../../../domain/proof.ts";
import type { AppContext } from "../../context.ts";

/**
 * Whether the origin that acts may have every provider's token: our own pages, and the origins of
 * `ALLOWED_ORIGINS`. The parent domain's shared cookie counts if that list allows each host that can read it.
 */
export async function isConfiguredOrigin(
  context: AppContext,
  { azp }: SessionProof,
): Promise<boolean> {
  if (azp === context.get("base_url")) return true;
  const { config, keepOwned } = context.get("services");
  const allowed = await keepOwned(config.allowed_origins);
  if (azp !== SHARED_AZP) return isAllowedOrigin(azp, allowed);
  return config.cookie_domain !== null && coversCookieDomain(config.cookie_domain, allowed);
}

/** Whether the origin that acts may have the token of one provider, as an origin of a registered app. */
export async function appReceivesProvider(
  context: AppContext,
  { azp }: SessionProof,
  provider: string,
): Promise<boolean> {
  const apps = await context.get("services").apps.all();
  return [...apps.values()].some(
    ({ origins, upstream_providers }) =>
      upstream_providers.includes(provider) && isAllowedOrigin(azp, origins),
  );
}
