/**
 * Tokens for other services, shaped by a named template (`TOKEN_TEMPLATES`). Their `typ` is the plain
 * "JWT": this service's own API takes session tokens of another type only, never these.
 */
import { SignJWT, type JWTPayload } from "jose";
import { SIGNING_ALGORITHM, type KeyRing } from "../keys/signing.ts";

/** A kind of token: who it is for, how long it lives, what it says beside. */
export interface TemplateShape {
  readonly audience: string;
  readonly ttl_seconds: number;
  readonly claims: JWTPayload;
}

/** What `issuer` vouches for: who the token is about. */
export interface TemplateSubject {
  readonly issuer: string;
  readonly identity_id: string;
}

/** Signs a token; the registered claims (RFC 7519, section 4.1) win over the template's own. */
export type SignTemplateToken = (shape: TemplateShape, about: TemplateSubject) => Promise<string>;

/** Template tokens signed with the keys of a ring. */
export function createTemplateTokens(keys: KeyRing): SignTemplateToken {
  return async (shape, about) => {
    const { kid, key } = await keys.signer();
    return new SignJWT({ ...shape.claims })
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: "JWT" })
      .setIssuer(about.issuer)
      .setSubject(about.identity_id)
      .setAudience(shape.audience)
      .setIssuedAt()
      .setExpirationTime(`${shape.ttl_seconds}s`)
      .sign(key);
  };
}
