/** The authentication of every contender: the EdDSA signature and claims of a session token. */
import { createLocalJWKSet, jwtVerify, type JWK } from "jose";

export interface SessionSettings {
  readonly SIGNING_KEYS: string;
  readonly ISSUER: string;
}

/** The identity of a token; null if it is invalid. */
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
