/** Reads authenticator data (WebAuthn Level 3, section 6.1). */

/** The content of authenticator data, without extensions and attestation. */
export interface AuthenticatorData {
  /** The SHA-256 of the relying party's id that the authenticator used. */
  readonly rp_id_hash: Uint8Array;
  readonly user_present: boolean;
  readonly user_verified: boolean;
  /** The number of uses, as the authenticator counts them; 0 if it does not count. */
  readonly sign_count: number;
  /** The new credential's id; null after a sign-in. */
  readonly credential_id: Uint8Array | null;
}

const FLAGS_AT = 32;
const SIGN_COUNT_AT = 33;
const HEAD_BYTES = 37;
const AAGUID_BYTES = 16;

/** The longest credential id (section 4, "credential ID"). */
const CREDENTIAL_ID_MAX_BYTES = 1023;

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const BACKUP_ELIGIBLE = 0x08;
const BACKED_UP = 0x10;
const HAS_CREDENTIAL = 0x40;
const HAS_EXTENSIONS = 0x80;

/** The authenticator data in these bytes; null if they are malformed or contradict themselves. */
export function readAuthenticatorData(bytes: Uint8Array): AuthenticatorData | null {
  if (bytes.byteLength < HEAD_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint8(FLAGS_AT);
  const has = (flag: number): boolean => (flags & flag) !== 0;
  // Section 6.1.3: a credential that cannot be backed up is not backed up.
  if (has(BACKED_UP) && !has(BACKUP_ELIGIBLE)) return null;
  const has_more = has(HAS_CREDENTIAL) || has(HAS_EXTENSIONS);
  if (!has_more && bytes.byteLength > HEAD_BYTES) return null;
  const credential_id = has(HAS_CREDENTIAL) ? readCredentialId(bytes, view) : null;
  if (has(HAS_CREDENTIAL) && credential_id === null) return null;
  return {
    rp_id_hash: bytes.subarray(0, FLAGS_AT),
    user_present: has(USER_PRESENT),
    user_verified: has(USER_VERIFIED),
    sign_count: view.getUint32(SIGN_COUNT_AT),
    credential_id,
  };
}

/** The credential's id in attested credential data (section 6.5.2). The key after it comes from the browser as SPKI. */
function readCredentialId(bytes: Uint8Array, view: DataView): Uint8Array | null {
  const length_at = HEAD_BYTES + AAGUID_BYTES;
  const id_at = length_at + 2;
  if (bytes.byteLength < id_at) return null;
  const length = view.getUint16(length_at);
  const is_complete = bytes.byteLength > id_at + length;
  if (length === 0 || length > CREDENTIAL_ID_MAX_BYTES || !is_complete) return null;
  return bytes.subarray(id_at, id_at + length);
}
