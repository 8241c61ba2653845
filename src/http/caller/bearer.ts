/** The `Authorization` header. */

/**
 * The token of a bearer header (RFC 6750, section 2.1); null where it is of another scheme or
 * malformed. The scheme's name has no case (RFC 9110, section 11.1).
 */
export function readBearer(header: string): string | null {
  return /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header)?.[1] ?? null;
}
