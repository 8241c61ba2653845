/** Reads how a client authenticates at the token endpoint (RFC 6749, section 2.3; RFC 7521, section 4.2). Pure. */
import { CLIENT_ID_MAX_LENGTH } from "./oauth_client.ts";
import { TOKEN_MAX_LENGTH } from "./limits.ts";
import { accepted, refused, type Result } from "./result.ts";

/** The parts of a request that authenticate its client. Null: not sent. RFC 6749 treats an empty parameter as not sent. */
export interface SentCredentials {
  /** The header `Authorization`. */
  readonly authorization: string | null;
  readonly client_id: string | null;
  readonly client_secret: string | null;
  readonly client_assertion: string | null;
  readonly client_assertion_type: string | null;
}

type ClientProof =
  | { readonly kind: "none" }
  | { readonly kind: "secret"; readonly secret: string }
  | { readonly kind: "assertion"; readonly assertion: string };

interface ClientCredentials {
  readonly client_id: string;
  readonly proof: ClientProof;
}

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** `missing`: no `client_id`. `malformed`: not in the form of the standard. */
type CredentialsProblem = "missing" | "malformed" | "two_methods";

export function readClientCredentials(
  sent: SentCredentials,
): Result<ClientCredentials, CredentialsProblem> {
  const { client_secret, client_assertion, client_assertion_type } = present(sent);
  const { authorization, client_id } = present(sent);
  const methods = [authorization, client_secret, client_assertion].filter((it) => it !== null);
  if (methods.length > 1) return refused("two_methods");
  if ((client_assertion === null) !== (client_assertion_type === null)) return refused("malformed");
  if (authorization !== null) {
    const basic = readBasic(authorization);
    // Some clients repeat their id in the body.
    if (basic === null || (client_id ?? basic.client_id) !== basic.client_id) {
      return refused("malformed");
    }
    return checked(basic.client_id, { kind: "secret", secret: basic.secret });
  }
  if (client_assertion !== null) {
    if (client_assertion_type !== ASSERTION_TYPE) return refused("malformed");
    const subject = subjectOf(client_assertion);
    if (subject === null || (client_id ?? subject) !== subject) return refused("malformed");
    return checked(subject, { kind: "assertion", assertion: client_assertion });
  }
  if (client_id === null) return refused("missing");
  const secret = client_secret;
  return checked(client_id, secret === null ? { kind: "none" } : { kind: "secret", secret });
}

function present(sent: SentCredentials): SentCredentials {
  const entries = Object.entries(sent).map(([name, value]) => [name, value || null]);
  return Object.fromEntries(entries) as SentCredentials;
}

function checked(
  client_id: string,
  proof: ClientProof,
): Result<ClientCredentials, CredentialsProblem> {
  const is_short =
    client_id.length <= CLIENT_ID_MAX_LENGTH &&
    (proof.kind !== "secret" || proof.secret.length <= TOKEN_MAX_LENGTH) &&
    (proof.kind !== "assertion" || proof.assertion.length <= TOKEN_MAX_LENGTH);
  return client_id !== "" && is_short ? accepted({ client_id, proof }) : refused("malformed");
}

/** HTTP Basic, whose id and secret are form-encoded first (RFC 6749, section 2.3.1). */
function readBasic(header: string): { readonly client_id: string; readonly secret: string } | null {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(header) ?? [];
  if (encoded === undefined) return null;
  try {
    const text = atob(encoded);
    const colon = text.indexOf(":");
    if (colon < 0) return null;
    return {
      client_id: formDecode(text.slice(0, colon)),
      secret: formDecode(text.slice(colon + 1)),
    };
  } catch {
    return null;
  }
}

/** @throws URIError if a percent sign starts no escape. */
function formDecode(text: string): string {
  return decodeURIComponent(text.replaceAll("+", " "));
}

/** The `sub` of an assertion that is not verified yet; null: it is not a JWT with a `sub`. */
function subjectOf(assertion: string): string | null {
  const [, payload = "", ...rest] = assertion.split(".");
  if (rest.length !== 1) return null;
  try {
    const claims: unknown = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    const subject: unknown = Object(claims).sub;
    return typeof subject === "string" ? subject : null;
  } catch {
    return null;
  }
}
