/**
 * A self-signed certificate (X.509, RFC 5280) for servers on this machine that the browser trusts. Browsers
 * accept cookie prefixes only over https.
 */
import { generateKeyPairSync, sign } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The paths of the PEM files. */
export interface Certificate {
  readonly key_path: string;
  readonly certificate_path: string;
}

/** Tags of ASN.1's DER (ITU-T X.690, section 8). */
const [INTEGER, BIT_STRING, OBJECT_ID, UTF8, UTC_TIME, SEQUENCE, SET, VERSION] = [
  0x02, 0x03, 0x06, 0x0c, 0x17, 0x30, 0x31, 0xa0,
];

function der(tag: number, ...parts: readonly (Buffer | readonly number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const { length } = content;
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  const size = length < 0x80 ? [length] : long;
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** Makes a certificate for `name` and its key in `directory`. */
export async function makeCertificate(directory: string, name: string): Promise<Certificate> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsa_with_sha256 = der(
    SEQUENCE,
    der(OBJECT_ID, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]),
  );
  const common_name = der(OBJECT_ID, [0x55, 0x04, 0x03]);
  const subject = der(SEQUENCE, der(SET, der(SEQUENCE, common_name, der(UTF8, Buffer.from(name)))));
  const moment = (at: string) => der(UTC_TIME, Buffer.from(at));
  const to_be_signed = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, [2])),
    der(INTEGER, [1]),
    ecdsa_with_sha256,
    subject,
    der(SEQUENCE, moment("200101000000Z"), moment("491231235959Z")),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = der(BIT_STRING, [0], sign("sha256", to_be_signed, privateKey));
  const base64 = der(SEQUENCE, to_be_signed, ecdsa_with_sha256, signature).toString("base64");
  const key_path = join(directory, "key.pem");
  const certificate_path = join(directory, "certificate.pem");
  await writeFile(key_path, privateKey.export({ type: "pkcs8", format: "pem" }));
  const lines = base64.match(/.{1,64}/g)?.join("\n") ?? "";
  await writeFile(
    certificate_path,
    `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  );
  return { key_path, certificate_path };
}
