/**
 * The state of a sign-in in progress. The browser carries it in a sealed host-only cookie, so starting a
 * sign-in writes to no store. The key is derived for one kind of flow, and the cookie is sealed for this kind and
 * this service's address. No other ciphertext under `ENCRYPTION_KEYS` opens as a flow, and a flow opens as nothing
 * else.
 */
import * as z from "zod/mini";
import { SIGNIN_FLOW_TTL_SECONDS } from "../../domain/limits.ts";
import {
  FLOW_PURPOSE,
  flowKeys,
  type EncryptionKey,
  type FlowPurpose,
} from "../../keys/encryption.ts";
import {
  packSealed,
  sealFor,
  unpackSealed,
  unsealFor,
  type SealingContext,
} from "../../keys/sealing.ts";
import { hostCookie, hostCookieName, readCookies } from "../cookies.ts";

const flow = z.object({
  provider: z.string(),
  /** Binds the provider's response to this browser (RFC 9700, section 2.1). */
  state: z.string(),
  /** Binds the ID token to this flow (OpenID Connect Core, section 3.1.2.1). */
  nonce: z.string(),
  /** Binds the code to this flow (RFC 7636). */
  code_verifier: z.string(),
  redirect_to: z.nullable(z.string()),
  /** When a provider was requested to sign the person in again; null: it was not. */
  again_at_ms: z.nullable(z.number()),
  /** The session that is linking a method; null: a plain sign-in. */
  link_to: z.nullable(z.object({ id: z.string(), identity_id: z.string() })),
});

/** The data of a flow between leaving for the provider and the callback. */
export type Flow = Readonly<z.infer<typeof flow>>;

export interface FlowCookies<Content> {
  /** The `Set-Cookie` value of a flow. */
  seal(base_url: string, flow: Content): Promise<string>;
  /** The flow of a browser; null: none, expired, or not sealed by us. */
  open(base_url: string, request: Request): Promise<Content | null>;
  /** The `Set-Cookie` value that deletes a flow. */
  clear(base_url: string): string;
}

/** A kind of flow: the name of its cookie, the use of its key, and its content. */
interface FlowKind<Content> {
  readonly cookie: string;
  readonly purpose: FlowPurpose;
  readonly content: z.ZodMiniType<Content>;
}

/** Sign-ins at a provider. */
export function createFlowCookies(keys: readonly EncryptionKey[]): FlowCookies<Flow> {
  return createCookiesOf(keys, { cookie: "passbook_signin", purpose: FLOW_PURPOSE, content: flow });
}

export function createCookiesOf<Content>(
  keys: readonly EncryptionKey[],
  { cookie, purpose, content: flow }: FlowKind<Content>,
): FlowCookies<Content> {
  const sealing = flowKeys(keys, purpose);
  // A browser may keep a cookie longer than requested, so the flow's end is part of the content.
  const sealed_flow = z.object({ flow, ends_at_ms: z.number() });
  const contextOf = (base_url: string): SealingContext => [purpose, base_url];
  /** The flow in a cookie; null for a forged, foreign or expired one. */
  const openFlow = async (base_url: string, value: string): Promise<Content | null> => {
    const sealed = unpackSealed(value);
    if (sealed === null) return null;
    const json = await unsealFor(sealing, contextOf(base_url), sealed);
    if (json === null) return null;
    const { data } = sealed_flow.safeParse(JSON.parse(json));
    return data !== undefined && Date.now() < data.ends_at_ms ? data.flow : null;
  };
  /**
   * `SameSite=Lax`: the callback is a top-level navigation from the provider; no other cross-site request sends
   * the cookie.
   */
  const setCookie = (base_url: string, value: string, max_age_seconds: number): string =>
    hostCookie(base_url, { name: cookie, value, max_age_seconds }, "Lax");
  return {
    async seal(base_url, value) {
      const ends_at_ms = Date.now() + SIGNIN_FLOW_TTL_SECONDS * 1000;
      const content = JSON.stringify({ flow: value, ends_at_ms });
      const value_of_cookie = packSealed(await sealFor(sealing, contextOf(base_url), content));
      return setCookie(base_url, value_of_cookie, SIGNIN_FLOW_TTL_SECONDS);
    },
    async open(base_url, request) {
      for (const value of readCookies(request, hostCookieName(base_url, cookie))) {
        const opened = await openFlow(base_url, value);
        if (opened !== null) return opened;
      }
      return null;
    },
    clear: (base_url) => setCookie(base_url, "", 0),
  };
}
