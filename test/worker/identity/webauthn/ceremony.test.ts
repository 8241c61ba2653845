/** Our verification of passkeys, compared with the one of `@simplewebauthn/server` on the same ceremonies. */
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { base64url } from "jose";
import { describe, expect, it } from "vitest";
import {
  readAssertion,
  userHandleOf,
  verifyAssertion,
  verifyRegistration,
} from "../../../../src/identity/builtin/webauthn/ceremony.ts";
import {
  createCredential,
  derSignature,
  join,
  useCredential,
  type Algorithm,
  type Alterations,
  type AssertionResponse,
  type Credential,
  type RegistrationResponse,
} from "../../support/authenticator.ts";

const ORIGIN = "https://id.family.test";
const RP_ID = "id.family.test";
const USER = "user_ada";
const CHALLENGE = base64url.encode(new Uint8Array(32).fill(7));
const OPTIONS = {
  challenge: CHALLENGE,
  rpId: RP_ID,
  rp: { id: RP_ID },
  user: { id: userHandleOf(USER) },
};
const EXPECTED = { challenge: CHALLENGE, origin: ORIGIN };

const AS_ORACLE = {
  expectedChallenge: CHALLENGE,
  expectedOrigin: ORIGIN,
  expectedRPID: RP_ID,
  requireUserVerification: true,
} as const;

const ALGORITHMS: readonly Algorithm[] = [-7, -8, -257];

/** Whether the library accepts a registration, and the credential that it reads. */
async function oracleRegistration(response: RegistrationResponse) {
  try {
    const verified = await verifyRegistrationResponse({
      ...AS_ORACLE,
      response,
    });
    return verified.verified ? (verified.registrationInfo?.credential ?? null) : null;
  } catch {
    return null;
  }
}

/** Whether the library accepts a sign-in. */
async function oracleAccepts(
  registered: RegistrationResponse,
  response: AssertionResponse,
): Promise<boolean> {
  const credential = await oracleRegistration(registered);
  if (credential === null) throw new Error("the library refused the registration");
  try {
    const { verified } = await verifyAuthenticationResponse({
      ...AS_ORACLE,
      response,
      credential: { ...credential, counter: 0 },
    });
    return verified;
  } catch {
    return false;
  }
}

async function ourVerdict(registered: RegistrationResponse, response: unknown): Promise<string> {
  const { publicKeyAlgorithm: algorithm, publicKey: public_key } = registered.response;
  const assertion = readAssertion(response);
  if (assertion === null) return "malformed";
  const passkey = { key: { algorithm: algorithm as Algorithm, public_key }, user_id: USER };
  const verified = await verifyAssertion(assertion, passkey, EXPECTED);
  return verified.ok ? "accepted" : verified.refusal;
}

/** Alterations of both ceremonies, and our reason for refusing each. */
const ALTERED: readonly (readonly [string, Alterations, string])[] = [
  ["another origin", { origin: "https://evil.test" }, "origin"],
  ["a sibling host", { origin: "https://app.family.test" }, "origin"],
  ["another port", { origin: `${ORIGIN}:8443` }, "origin"],
  ["plain http", { origin: "http://id.family.test" }, "origin"],
  ["another challenge", { challenge: base64url.encode(new Uint8Array(32)) }, "challenge"],
  ["an empty challenge", { challenge: "" }, "challenge"],
  ["another type", { type: "payment.get" }, "type"],
  ["the parent domain as relying party", { rp_id: "family.test" }, "relying party"],
  ["the relying party of another site", { rp_id: "evil.test" }, "relying party"],
];

const FRAMED: readonly (readonly [string, Alterations])[] = [
  ["from a frame of another origin", { client_data: { crossOrigin: true } }],
  ["with a top origin", { client_data: { topOrigin: "https://evil.test" } }],
];

/** A public key (SPKI) of so many bits. It has no private key: making one of 8,192 bits takes ten seconds. */
async function rsaPublicKey(bits: number): Promise<Uint8Array> {
  const modulus = crypto.getRandomValues(new Uint8Array(bits / 8));
  modulus[0] = 0xff;
  modulus[modulus.length - 1] = 1;
  const jwk = { kty: "RSA", n: base64url.encode(modulus), e: "AQAB" };
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("jwk", jwk, algorithm, true, ["verify"]);
  return new Uint8Array((await crypto.subtle.exportKey("spki", key)) as ArrayBuffer);
}

describe("a registration", () => {
  it.each(ALGORITHMS)(
    "a registration with algorithm %i is accepted, with the id and key that the library reads",
    async (algorithm) => {
      const { credential, response } = await createCredential(ORIGIN, OPTIONS, algorithm);
      const verified = await verifyRegistration(response, EXPECTED);
      expect(verified).toMatchObject({
        ok: true,
        value: { credential_id: credential.id, algorithm, sign_count: 0 },
      });
      const oracle = await oracleRegistration(response);
      expect(oracle?.id).toBe(credential.id);
      // The library reads the key from the attested data, we read the browser's: one signature must fit both.
      const signed_in = await useCredential(ORIGIN, OPTIONS, credential);
      expect(await oracleAccepts(response, signed_in)).toBe(true);
      expect(await ourVerdict(response, signed_in)).toBe("accepted");
    },
  );

  it.each([
    ...ALTERED,
    ["a sign-in's type", { type: "webauthn.get" }, "type"],
    ["no user presence", { flags: 0x44 }, "user not present"],
    ["no user verification", { flags: 0x41 }, "user not verified"],
  ] as const)(
    "a registration with %s is refused, as by the library",
    async (_, altered, reason) => {
      const { response } = await createCredential(ORIGIN, OPTIONS, -7, altered);
      expect(await verifyRegistration(response, EXPECTED)).toEqual({ ok: false, refusal: reason });
      expect(await oracleRegistration(response)).toBeNull();
    },
  );

  it("a registration without a credential in its data is refused", async () => {
    const { response } = await createCredential(ORIGIN, OPTIONS);
    const data = base64url.decode(response.response.authenticatorData);
    const flags = new Uint8Array(data);
    flags[32] = 0x05;
    const bare = { ...response.response, authenticatorData: base64url.encode(flags.slice(0, 37)) };
    const verified = await verifyRegistration({ ...response, response: bare }, EXPECTED);
    expect(verified).toEqual({ ok: false, refusal: "credential id" });
  });

  it.each([
    ["another credential's id", (sent: object) => ({ ...sent, id: "AAAA" }), "credential id"],
    ["no public key", (sent: object) => alter(sent, { publicKey: "" }), "malformed"],
    [
      "bytes that are no public key",
      (sent: object) => alter(sent, { publicKey: "AAAA" }),
      "public key",
    ],
    [
      "an algorithm that is not offered",
      (sent: object) => alter(sent, { publicKeyAlgorithm: -36 }),
      "public key",
    ],
    [
      "the algorithm of another key",
      (sent: object) => alter(sent, { publicKeyAlgorithm: -8 }),
      "public key",
    ],
    [
      "data that is cut off",
      (sent: object) => alter(sent, { authenticatorData: "AAAA" }),
      "malformed",
    ],
    [
      "client data that is not JSON",
      (sent: object) => alter(sent, { clientDataJSON: "AAAA" }),
      "malformed",
    ],
  ])("a registration with %s is refused", async (_, change, reason) => {
    const { response } = await createCredential(ORIGIN, OPTIONS);
    expect(await verifyRegistration(change(response), EXPECTED)).toEqual({
      ok: false,
      refusal: reason,
    });
  });

  it.each([1024, 8192])("an RSA key of %i bits is refused", async (bits) => {
    const { response } = await createCredential(ORIGIN, OPTIONS);
    const publicKey = base64url.encode(await rsaPublicKey(bits));
    const changed = alter(response, { publicKey, publicKeyAlgorithm: -257 });
    expect(await verifyRegistration(changed, EXPECTED)).toMatchObject({ refusal: "public key" });
  });

  it.each([
    ["that is cut off in the middle", (data: Uint8Array) => data.slice(0, 50)],
    ["without a key", (data: Uint8Array) => data.slice(0, 37 + 16 + 2 + 16)],
    ["with an id of no bytes", (data: Uint8Array) => withBytes(data, 53, [0, 0])],
    ["with an id of over 1,023 bytes", (data: Uint8Array) => withBytes(data, 53, [4, 0])],
    ["that is backed up but cannot be", (data: Uint8Array) => withBytes(data, 32, [0x55])],
  ])("authenticator data %s is malformed", async (_, change) => {
    const { response } = await createCredential(ORIGIN, OPTIONS);
    const data = base64url.decode(response.response.authenticatorData);
    const changed = alter(response, { authenticatorData: base64url.encode(change(data)) });
    expect(await verifyRegistration(changed, EXPECTED)).toEqual({
      ok: false,
      refusal: "malformed",
    });
  });

  it.each(FRAMED)("a registration %s is refused", async (_, altered) => {
    const { response } = await createCredential(ORIGIN, OPTIONS, -7, altered);
    expect(await verifyRegistration(response, EXPECTED)).toMatchObject({ ok: false });
  });
});

describe("a sign-in", () => {
  it.each([
    ...ALTERED,
    ["a registration's type", { type: "webauthn.create" }, "type"],
    ["no user presence", { flags: 0x04 }, "user not present"],
    ["no user verification", { flags: 0x01 }, "user not verified"],
    ["a signature of zeros", { signature: (it) => it.map(() => 0) }, "signature"],
    ["an empty number in its signature", { signature: () => der([], [1]) }, "signature"],
    ["one bit of its signature changed", { signature: (it) => withLastBit(it) }, "signature"],
  ] as readonly (readonly [string, Alterations, string])[])(
    "a sign-in with %s is refused, as by the library",
    async (_, altered, reason) => {
      for (const algorithm of ALGORITHMS) {
        const { credential, response: registered } = await createCredential(
          ORIGIN,
          OPTIONS,
          algorithm,
        );
        const response = await useCredential(ORIGIN, OPTIONS, credential, altered);
        expect(await ourVerdict(registered, response)).toBe(reason);
        expect(await oracleAccepts(registered, response)).toBe(false);
      }
    },
  );

  it("a sign-in of another person's credential is refused", async () => {
    const { credential: bens } = await createCredential(ORIGIN, OPTIONS);
    const { credential, response: registered } = await createCredential(ORIGIN, OPTIONS);
    const stolen: Credential = { ...bens, id: credential.id };
    const response = await useCredential(ORIGIN, OPTIONS, stolen);
    expect(await ourVerdict(registered, response)).toBe("signature");
    expect(await oracleAccepts(registered, response)).toBe(false);
  });

  it("a sign-in with another person's user handle is refused", async () => {
    const { credential, response: registered } = await createCredential(ORIGIN, OPTIONS);
    const user_handle = userHandleOf("user_ben");
    const response = await useCredential(ORIGIN, OPTIONS, credential, { user_handle });
    expect(await ourVerdict(registered, response)).toBe("user handle");
  });

  it.each(FRAMED)("a sign-in %s is refused", async (_, altered) => {
    const { credential, response: registered } = await createCredential(ORIGIN, OPTIONS);
    const response = await useCredential(ORIGIN, OPTIONS, credential, altered);
    expect(await ourVerdict(registered, response)).toBe("malformed");
  });

  it("changing any byte of the signed data makes the signature invalid", async () => {
    const { credential, response: registered } = await createCredential(ORIGIN, OPTIONS);
    const response = await useCredential(ORIGIN, OPTIONS, credential);
    const data = base64url.decode(response.response.authenticatorData);
    for (const at of data.keys()) {
      const altered = withBytes(data, at, [(data[at] ?? 0) ^ 0x20]);
      const changed = alter(response, { authenticatorData: base64url.encode(altered) });
      expect(await ourVerdict(registered, changed)).not.toBe("accepted");
    }
  });

  it.each([
    ["a needless zero", (it: Uint8Array) => withZero(it)],
    ["a byte after its end", (it: Uint8Array) => join(it, new Uint8Array(1))],
    ["another tag", (it: Uint8Array) => withBytes(it, 0, [0x31])],
    ["another tag of a number", (it: Uint8Array) => withBytes(it, 2, [0x03])],
    ["a length beyond its end", (it: Uint8Array) => withBytes(it, 3, [0x7f])],
    ["a negative number", () => der([0x80, ...Array<number>(31).fill(1)], [1])],
    ["a number of 33 bytes", () => der([1, ...Array<number>(32).fill(1)], [1])],
  ])("an ES256 signature with %s is refused", async (_, signature) => {
    const { credential, response: registered } = await createCredential(ORIGIN, OPTIONS);
    const response = await useCredential(ORIGIN, OPTIONS, credential, { signature });
    expect(await ourVerdict(registered, response)).toBe("signature");
  });

  it("ES256 signatures with short and long numbers are read as the library reads them", async () => {
    const { credential, response: registered } = await createCredential(ORIGIN, OPTIONS);
    // A number is short in one of 128 signatures, and half of them need a zero at the start.
    for (let tries = 0; tries < 300; tries += 1) {
      const response = await useCredential(ORIGIN, OPTIONS, credential);
      expect(await ourVerdict(registered, response)).toBe("accepted");
    }
    const short = new Uint8Array(64).fill(1);
    short.fill(0, 0, 31);
    expect(derSignature(short)).toHaveLength(2 + 3 + 34);
  });

  it.each([null, 1, "x", {}, { id: "a" }, { id: "a", response: {} }, { id: "=", response: {} }])(
    "the response %j is malformed",
    async (response) => {
      expect(readAssertion(response)).toBeNull();
      expect(await verifyRegistration(response, EXPECTED)).toMatchObject({ refusal: "malformed" });
    },
  );
});

function alter(response: object, change: object): object {
  const { response: sent } = response as { response: object };
  return { ...response, response: { ...sent, ...change } };
}

function withBytes(bytes: Uint8Array, at: number, change: readonly number[]): Uint8Array {
  const changed = new Uint8Array(bytes);
  changed.set(change, at);
  return changed;
}

function withLastBit(signature: Uint8Array): Uint8Array {
  return withBytes(signature, signature.length - 1, [(signature.at(-1) ?? 0) ^ 1]);
}

function der(...numbers: readonly (readonly number[])[]): Uint8Array {
  const content = numbers.flatMap((digits) => [2, digits.length, ...digits]);
  return new Uint8Array([0x30, content.length, ...content]);
}

/** The signature with one more zero before its first number. */
function withZero(signature: Uint8Array): Uint8Array {
  const length = signature[3] ?? 0;
  const content = [2, length + 1, 0, ...signature.slice(4)];
  return new Uint8Array([0x30, content.length, ...content]);
}
