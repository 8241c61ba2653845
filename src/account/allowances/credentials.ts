/** Finds the allowance that a credential stands for. */
import { limitsOfChain, type AllowanceLimits } from "../../domain/allowance.ts";
import type { Credential } from "../../domain/proof.ts";
import { limitsOf, type AllowanceRow, type AllowanceStore } from "../sql/allowance_store.ts";
import type { FamilyStore } from "../sql/family_store.ts";

/** An allowance, then its ancestors, up to the one that the holder approved. */
export type Chain = readonly [AllowanceRow, ...AllowanceRow[]];

/** Where credentials are found. */
interface Sources {
  readonly allowances: AllowanceStore;
  readonly families: FamilyStore;
}

/**
 * The allowance of a credential, with its ancestors. Null if one of them was revoked or has expired: revoking an
 * allowance ends all its descendants.
 */
export function findChain(
  { allowances, families }: Sources,
  credential: Credential,
  now_ms: number,
): Chain | null {
  switch (credential.kind) {
    case "allowance":
      return allowances.readLivingChain(credential.allowance_id, now_ms);
    case "family": {
      const family = families.read(credential.family_id);
      if (family === null || (family.session_ends_at_ms ?? Infinity) <= now_ms) return null;
      const chain = allowances.readLivingChain(family.allowance_id, now_ms);
      if (chain === null) return null;
      const [own, ...ancestors] = chain;
      // Two authorizations of one client may have different scopes, and so may two tokens of one authorization.
      const { scopes } = credential;
      const given = family.scopes
        .split(" ")
        .filter((it) => scopes === "all" || scopes.includes(it));
      return [{ ...own, scopes: given.join(" ") }, ...ancestors];
    }
  }
}

/**
 * The clients that hold an allowance and its ancestors. The account does not know whether one of them was deleted: then
 * nobody may use the allowance.
 */
export function clientIdsOf(
  allowances: AllowanceStore,
  { path }: Pick<AllowanceRow, "path">,
): readonly string[] {
  return [...new Set(allowances.readPath(path).flatMap(({ client_id }) => client_id ?? []))];
}

/** The limits of an allowance together with all its ancestors. */
export function limitsOfAll([own, ...ancestors]: Chain): AllowanceLimits {
  return limitsOfChain(limitsOf(own), ancestors.map(limitsOf));
}
