/** The check that every contender makes of a caller: the session token's EdDSA signature and claims. */
import { createLocalJWKSet, jwtVerify, type JWK } from "jose";

export interface SessionSettings {
  readonly SIGNING_KEYS: string;
  readonly ISSUER: string;
}

/** Gives whose token it is; null where it is not valid. */
export function createSessionCheck({ SIGNING_KEYS, ISSUER }: SessionSettings) {
  const { keys } = JSON.parse(SIGNING_KEYS) as { keys: JWK[] };
  const public_keys = keys.map(({ kty = "", crv = "", kid = "", x = "" }): JWK => ({
    kty,
    crv,
    kid,
    x,
    alg: "EdDSA",
  }));
  const resolve = createLocalJWKSet({ keys: public_keys });
  return async (authorization: string | null | undefined): Promise<string | null> => {
    if (!authorization?.startsWith("Bearer ")) return null;
    try {
      const { payload } = await jwtVerify(authorization.slice(7), resolve, {
        issuer: ISSUER,
        algorithms: ["EdDSA"],
      });
      return payload.sub ?? null;
    } catch {
      return null;
    }
  };
}
