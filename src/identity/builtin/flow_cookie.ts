/**
 * The state of a sign-in that is under way, carried by the browser itself: a JWE (RFC 7516, `dir`,
 * A256GCM) in a host-only cookie, so that starting a sign-in writes to no store.
 *
 * Its key is derived for this use alone, and its type, issuer and audience are checked:
 * nothing else that was ever encrypted with `ENCRYPTION_KEYS` opens as a flow, nor a flow as that.
 */
import { EncryptJWT, jwtDecrypt } from "jose";
import * as z from "zod/mini";
import { SIGNIN_FLOW_TTL_SECONDS } from "../../domain/limits.ts";
import { flowKeys, type EncryptionKey, type EncryptionKeys } from "../../keys/encryption.ts";
import { hostCookie, hostCookieName, readCookies } from "../cookies.ts";

const flow = z.object({
  provider: z.string(),
  /** Ties the provider's answer to this browser (RFC 9700, section 2.1). */
  state: z.string(),
  /** Ties the ID token to this flow (OpenID Connect Core, section 3.1.2.1). */
  nonce: z.string(),
  /** Ties the code to this flow (RFC 7636). */
  code_verifier: z.string(),
  redirect_to: z.nullable(z.string()),
  /** The person and session that asked to link; null for a plain sign-in. */
  link_to: z.nullable(z.object({ id: z.string(), identity_id: z.string() })),
});

/** What a flow must remember between leaving for the provider and coming back. */
export type Flow = Readonly<z.infer<typeof flow>>;

export interface FlowCookies {
  /** The `Set-Cookie` value that carries a flow. */
  seal(base_url: string, flow: Flow): Promise<string>;
  /** The flow of a browser; null where it has none, an old one, or one that is not ours. */
  open(base_url: string, request: Request): Promise<Flow | null>;
  /** The `Set-Cookie` value that ends a flow. */
  clear(base_url: string): string;
}

const FLOW_COOKIE = "passbook_signin";
const FLOW_TYPE = "signin-flow+jwt";
const FLOW_AUDIENCE = "signin-callback";

/** Flows sealed with the first key; all keys open them. */
export function createFlowCookies(keys: readonly EncryptionKey[]): FlowCookies {
  const sealing = flowKeys(keys);
  return {
    async seal(base_url, value) {
      const { kid, key } = await sealing.first();
      const token = await new EncryptJWT({ flow: value })
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid, typ: FLOW_TYPE })
        .setIssuer(base_url)
        .setAudience(FLOW_AUDIENCE)
        .setIssuedAt()
        .setExpirationTime(`${SIGNIN_FLOW_TTL_SECONDS}s`)
        .encrypt(key);
      return flowCookie(base_url, token, SIGNIN_FLOW_TTL_SECONDS);
    },
    async open(base_url, request) {
      for (const token of readCookies(request, hostCookieName(base_url, FLOW_COOKIE))) {
        const opened = await decrypt(sealing, base_url, token);
        if (opened !== null) return opened;
      }
      return null;
    },
    clear: (base_url) => flowCookie(base_url, "", 0),
  };
}

/** `Lax`: the way back is a top-level navigation from the provider, and nothing else may carry it. */
function flowCookie(base_url: string, value: string, max_age_seconds: number): string {
  return hostCookie(base_url, { name: FLOW_COOKIE, value, max_age_seconds }, "Lax");
}

async function decrypt(
  keys: EncryptionKeys,
  base_url: string,
  token: string,
): Promise<Flow | null> {
  const keyNamed = async ({ kid = "" }) => {
    const named = await keys.named(kid);
    if (named === null) throw new Error("no such key");
    return named.key;
  };
  try {
    const { payload } = await jwtDecrypt(token, keyNamed, {
      typ: FLOW_TYPE,
      issuer: base_url,
      audience: FLOW_AUDIENCE,
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
      requiredClaims: ["exp"],
    });
    return flow.parse(payload["flow"]);
  } catch {
    // Forged, foreign and outdated are one: no flow that counts.
    return null;
  }
}
