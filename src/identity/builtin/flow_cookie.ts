/**
 * The state of a sign-in that is under way, carried by the browser itself: sealed in a host-only cookie,
 * so that starting a sign-in writes to no store.
 *
 * Its key is derived for this use alone, and it is sealed for this use and this service's address:
 * nothing else that was ever encrypted with `ENCRYPTION_KEYS` opens as a flow, nor a flow as that.
 */
import { base64url } from "jose";
import * as z from "zod/mini";
import { SIGNIN_FLOW_TTL_SECONDS } from "../../domain/limits.ts";
import {
  FLOW_PURPOSE,
  flowKeys,
  type EncryptionKey,
  type EncryptionKeys,
} from "../../keys/encryption.ts";
import { sealFor, unsealFor, type SealingContext } from "../../keys/sealing.ts";
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

/** What is sealed. The browser is only asked to forget it; here it ends. */
const kept_flow = z.object({ flow, ends_at_ms: z.number() });

export interface FlowCookies {
  /** The `Set-Cookie` value that carries a flow. */
  seal(base_url: string, flow: Flow): Promise<string>;
  /** The flow of a browser; null where it has none, an old one, or one that is not ours. */
  open(base_url: string, request: Request): Promise<Flow | null>;
  /** The `Set-Cookie` value that ends a flow. */
  clear(base_url: string): string;
}

const FLOW_COOKIE = "passbook_signin";

/** Flows sealed with the first key; all keys open them. */
export function createFlowCookies(keys: readonly EncryptionKey[]): FlowCookies {
  const sealing = flowKeys(keys);
  return {
    async seal(base_url, value) {
      const ends_at_ms = Date.now() + SIGNIN_FLOW_TTL_SECONDS * 1000;
      const kept: z.infer<typeof kept_flow> = { flow: value, ends_at_ms };
      const { key_id, sealed } = await sealFor(sealing, contextOf(base_url), JSON.stringify(kept));
      // An operator names keys, in letters that a cookie may not have.
      const value_of_cookie = `${base64url.encode(key_id)}.${sealed}`;
      return flowCookie(base_url, value_of_cookie, SIGNIN_FLOW_TTL_SECONDS);
    },
    async open(base_url, request) {
      for (const value of readCookies(request, hostCookieName(base_url, FLOW_COOKIE))) {
        const opened = await openFlow(sealing, base_url, value);
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

function contextOf(base_url: string): SealingContext {
  return [FLOW_PURPOSE, base_url];
}

/** The flow of a cookie. Forged, foreign and outdated are one: no flow that counts. */
async function openFlow(
  keys: EncryptionKeys,
  base_url: string,
  value: string,
): Promise<Flow | null> {
  const dot = value.indexOf(".");
  const key_id = readKeyId(value.slice(0, dot));
  if (dot < 0 || key_id === null) return null;
  const sealed = value.slice(dot + 1);
  const json = await unsealFor(keys, contextOf(base_url), { key_id, sealed });
  if (json === null) return null;
  const { data } = kept_flow.safeParse(JSON.parse(json));
  return data !== undefined && Date.now() < data.ends_at_ms ? data.flow : null;
}

function readKeyId(name: string): string | null {
  try {
    return new TextDecoder().decode(base64url.decode(name));
  } catch {
    return null;
  }
}
