/**
 * Tokens for other services, defined by a named template (`TOKEN_TEMPLATES`). Their `typ` is "JWT"; our API
 * accepts only session tokens, which have another.
 */
import { SignJWT, type JWTPayload } from "jose";
import { SIGNING_ALGORITHM, type KeyRing } from "../keys/signing.ts";

/** A template: audience, lifetime and further claims. */
interface TemplateShape {
  readonly audience: string;
  readonly ttl_seconds: number;
  readonly claims: JWTPayload;
}

/** The issuer, the identity that the token is about, and the origin that it is issued to. */
interface TemplateSubject {
  readonly issuer: string;
  readonly identity_id: string;
  readonly azp: string;
}

/**
 * Signs a token. The registered claims (RFC 7519, section 4.1) and `azp` replace claims of the template with the same
 * name.
 */
export type SignTemplateToken = (shape: TemplateShape, about: TemplateSubject) => Promise<string>;

export function createTemplateTokens(keys: KeyRing): SignTemplateToken {
  return async (shape, about) => {
    const { kid, key } = await keys.signer();
    return new SignJWT({ ...shape.claims, azp: about.azp })
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: "JWT" })
      .setIssuer(about.issuer)
      .setSubject(about.identity_id)
      .setAudience(shape.audience)
      .setIssuedAt()
      .setExpirationTime(`${shape.ttl_seconds}s`)
      .sign(key);
  };
}
