/** Where a person does what a 402 response asks for: our pages that approve a job, and that sell credits. */
import { isOfAllowance } from "../../domain/proof.ts";
import { REFUSAL_STATUS } from "../../domain/refusal_codes.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { AppContext } from "../context.ts";

/** The members that a refusal with status 402 has in addition to its own. */
export function nextSteps(context: AppContext, refusal: Refusal): object {
  if (REFUSAL_STATUS[refusal.code] !== 402) return {};
  const topup_url = topupUrl(context);
  if (refusal.code !== "token_budget_exceeded") return { topup_url };
  const { approval = null } = refusal;
  const base_url = context.get("base_url");
  const approval_url = approval === null ? null : `${base_url}/approve/${approval}`;
  return { approval_url, topup_url };
}

/** Where the account's holder buys credits; null: nothing is for sale. It names the client, so that it can lead back there. */
function topupUrl(context: AppContext): string | null {
  const { payments } = context.get("services");
  if ((payments?.packages ?? []).length === 0) return null;
  const { proof } = context.get("caller");
  const url = new URL("/account#buy", context.get("base_url"));
  if (isOfAllowance(proof) && proof.kind === "connection") {
    url.searchParams.set("client", proof.client_id);
  }
  return url.href;
}
