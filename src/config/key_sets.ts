/** The schemas of the settings that are key sets. */
import * as z from "zod/mini";
import { json, some_text } from "./values.ts";

/** The length of a modulus of 2048 bits in base64url. */
const RSA_MODULUS_MIN_LENGTH = 342;

/** 256 bits in base64url (RFC 7518, section 6.4.1; RFC 8037, section 2). */
const bits_256 = z.string().check(z.regex(/^[A-Za-z0-9_-]{43}$/, "is not 256 bits"));

/** A set of keys with distinct ids. */
const keySet = <Key extends z.ZodMiniType<{ readonly kid: string }>>(key: Key) =>
  z.pipe(
    json,
    z.object({
      keys: z.array(key).check(
        z.minLength(1),
        z.refine((keys) => new Set(keys.map(({ kid }) => kid)).size === keys.length, {
          error: "has one kid twice",
        }),
      ),
    }),
  );

export const signing_keys = keySet(
  z.object({
    kty: z.literal("OKP"),
    crv: z.literal("Ed25519"),
    kid: some_text,
    x: bits_256,
    d: bits_256,
  }),
);

/** An RSA key of at least 2048 bits (RFC 7518, sections 3.3 and 6.3). */
const rsa_number = z.string().check(z.regex(/^[A-Za-z0-9_-]+$/, "is not base64url"));
export const id_token_keys = keySet(
  z.object({
    kty: z.literal("RSA"),
    kid: some_text,
    n: rsa_number.check(z.minLength(RSA_MODULUS_MIN_LENGTH, "is shorter than 2048 bits")),
    e: rsa_number,
    d: rsa_number,
    p: rsa_number,
    q: rsa_number,
    dp: rsa_number,
    dq: rsa_number,
    qi: rsa_number,
  }),
);

export const encryption_keys = keySet(
  z.object({
    kty: z.literal("oct"),
    kid: some_text,
    k: bits_256,
  }),
);
