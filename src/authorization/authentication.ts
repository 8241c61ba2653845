/**
 * Client authentication at the token and revocation endpoints: none, `client_secret_basic`, `client_secret_post` (RFC 6749,
 * section 2.3) and `private_key_jwt` (RFC 7523, OpenID Connect Core, section 9). A request uses exactly one of them.
 */
import { isRegisteredClientId, type RegisteredClient } from "../domain/oauth_client.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { readClientCredentials, type SentCredentials } from "../domain/client_credentials.ts";
import { verifyAssertion, type Audience } from "./assertion.ts";
import type { Clients } from "./clients.ts";
import type { CountFetch, PublicJson } from "./public_json.ts";

/** The client of a request, and what it proved. */
export type AuthenticatedClient =
  | {
      readonly kind: "registered";
      readonly client_id: string;
      /** A public one proved nothing; a confidential one proved itself with its secret. */
      readonly client: RegisteredClient;
    }
  | {
      readonly kind: "document";
      readonly client_id: string;
      /** Whether it proved itself with an assertion. If its document requires one, the account refuses it without. */
      readonly asserted: boolean;
    };

/**
 * Why a client is not authenticated. `invalid`: there is no such client, or its proof is wrong. `unreadable`: the registry or
 * the client's keys cannot be read now.
 */
type AuthenticationProblem =
  | "missing"
  | "malformed"
  | "two_methods"
  | "invalid"
  | "limited"
  | "unreadable";

export interface ClientAuthentication {
  /**
   * Authenticates the client of a request. `count`: counts a fetch of keys; null: the request has no code or token of ours,
   * so nothing is fetched. It never throws.
   */
  authenticate(
    sent: SentCredentials,
    audience: Audience,
    count: CountFetch | null,
  ): Promise<Result<AuthenticatedClient, AuthenticationProblem>>;
}

/** Whether a secret is one of a client's. `unreadable`: nobody knows now. */
export type CheckClientSecret = (
  client_id: string,
  secret: string,
) => Promise<"valid" | "wrong" | "unreadable">;

interface ClientAuthenticationOptions {
  readonly clients: Clients;
  readonly json: PublicJson;
  readonly checkClientSecret: CheckClientSecret;
}

export function createClientAuthentication({
  clients,
  json,
  checkClientSecret,
}: ClientAuthenticationOptions): ClientAuthentication {
  const authenticateRegistered = async (
    client_id: string,
    secret: string | null,
  ): Promise<Result<AuthenticatedClient, AuthenticationProblem>> => {
    const found = await clients.resolve(client_id, null);
    if (found.kind === "unreadable") return refused("unreadable");
    if (found.kind !== "found" || found.value.kind !== "registered") return refused("invalid");
    const client = found.value;
    // A secret of a public client is refused: its operator or developer believes that it protects something.
    if (client.public !== (secret === null)) return refused("invalid");
    const verdict = secret === null ? "valid" : await checkClientSecret(client_id, secret);
    if (verdict !== "valid") return refused(verdict === "wrong" ? "invalid" : verdict);
    return accepted({ kind: "registered", client_id, client });
  };

  return {
    async authenticate(sent, audience, count) {
      const read = readClientCredentials(sent);
      if (!read.ok) return read;
      const { client_id, proof } = read.value;
      if (isRegisteredClientId(client_id)) {
        if (proof.kind === "assertion") return refused("invalid");
        return authenticateRegistered(client_id, proof.kind === "secret" ? proof.secret : null);
      }
      if (!clients.isDocumentUrl(client_id) || proof.kind === "secret") return refused("invalid");
      if (proof.kind === "none") return accepted({ kind: "document", client_id, asserted: false });
      if (count === null) return refused("invalid");
      const verdict = await verifyAssertion(
        { client_id, assertion: proof.assertion, audience },
        { clients, json, count },
      );
      if (verdict !== "valid") return refused(verdict);
      return accepted({ kind: "document", client_id, asserted: true });
    },
  };
}
