/** New keys for one run of the service. */

/** The settings `SIGNING_KEYS`, `ID_TOKEN_KEYS` and `ENCRYPTION_KEYS`. */
export async function developmentKeys(): Promise<Readonly<Record<string, string>>> {
  const uses = ["sign", "verify"] as const;
  const rsa = {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  };
  const k = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
  return {
    SIGNING_KEYS: await keySetOf(await crypto.subtle.generateKey("Ed25519", true, uses)),
    ID_TOKEN_KEYS: await keySetOf(await crypto.subtle.generateKey(rsa, true, uses)),
    ENCRYPTION_KEYS: keySet({ kty: "oct", k }),
  };
}

type PrivateKey = Parameters<typeof crypto.subtle.exportKey>[1];

async function keySetOf({ privateKey }: { readonly privateKey: PrivateKey }): Promise<string> {
  const { key_ops: _, ext: __, ...key } = await crypto.subtle.exportKey("jwk", privateKey);
  return keySet(key);
}

const keySet = (key: object): string =>
  JSON.stringify({ keys: [{ ...key, kid: crypto.randomUUID() }] });
