/** Finds the allowance that a credential stands for. */
import { limitsOfChain, type AllowanceLimits } from "../../domain/allowance.ts";
import type { Credential } from "../../domain/proof.ts";
import { limitsOf, type AllowanceRow, type AllowanceStore } from "../sql/allowance_store.ts";

/** An allowance, then its ancestors, up to the one that the holder approved. */
export type Chain = readonly [AllowanceRow, ...AllowanceRow[]];

/**
 * The allowance of a credential, with its ancestors. Null if one of them was revoked or has expired: revoking an
 * allowance ends all its descendants.
 */
export function findChain(
  allowances: AllowanceStore,
  credential: Credential,
  now_ms: number,
): Chain | null {
  switch (credential.kind) {
    case "allowance":
      return allowances.readLivingChain(credential.allowance_id, now_ms);
    case "family":
      return null;
  }
}

/** What an allowance and all its ancestors permit. */
export function limitsOfAll([own, ...ancestors]: Chain): AllowanceLimits {
  return limitsOfChain(limitsOf(own), ancestors.map(limitsOf));
}
