/**
 * The claims of the tokens that vendors of sign-in services issue, as data. `{field}` stands for a field of the entry in
 * `TRUSTED_ISSUERS`. Each preset refuses the tokens of the same issuer that are not a person's session in an app.
 */
import type { TrustedIssuer } from "../domain/trusted_issuer.ts";

/** Fields that only presets have, for the addresses of an issuer. */
export const PRESET_FIELDS = [
  "domain",
  "project_url",
  "project_id",
  "region",
  "user_pool_id",
  "client_id",
] as const;
export type PresetField = (typeof PRESET_FIELDS)[number];

type Data = Pick<
  TrustedIssuer,
  | "name"
  | "party_claim"
  | "types"
  | "required"
  | "refused"
  | "name_claim"
  | "email_claim"
  | "email_verified_claim"
>;

export interface IssuerPreset extends Data {
  /** Null: the entry must have it. */
  readonly issuer: string | null;
  readonly jwks_uri: string;
  readonly audience: string | null;
  /** The fields that the entry must have besides those of the addresses. */
  readonly needs: readonly ("audience" | "authorized_parties")[];
  /** The issuer names one client, so a token for another client has another issuer. */
  readonly is_of_one_client: boolean;
}

/** Any OpenID Connect issuer. A token of an impersonator (RFC 8693, claim `act`) must not spend a person's credits. */
export const ANY_ISSUER: IssuerPreset = {
  name: "",
  issuer: null,
  jwks_uri: "{issuer}/.well-known/jwks.json",
  audience: null,
  needs: [],
  is_of_one_client: false,
  party_claim: "azp",
  types: ["jwt", "at+jwt", "application/at+jwt"],
  required: {},
  refused: { act: [] },
  name_claim: "name",
  email_claim: "email",
  email_verified_claim: "email_verified",
};

export const ISSUER_PRESETS = {
  // Tokens of OAuth applications have the type at+jwt, and neither they nor tokens of templates have `sid`. The status
  // is "pending" while the person still has a task, such as choosing an organization.
  clerk: {
    ...ANY_ISSUER,
    name: "Clerk",
    types: ["jwt"],
    required: { sid: [] },
    refused: { act: [], sts: ["pending"] },
  },
  // A tenant signs the tokens of all its APIs and applications with one key.
  auth0: {
    ...ANY_ISSUER,
    name: "Auth0",
    issuer: "https://{domain}/",
    jwks_uri: "https://{domain}/.well-known/jwks.json",
    needs: ["audience", "authorized_parties"],
    refused: { act: [], gty: ["client-credentials"] },
  },
  // A token of the OAuth server names its client. People can edit their `user_metadata`, also its `email_verified`.
  supabase: {
    ...ANY_ISSUER,
    name: "Supabase",
    issuer: "{project_url}/auth/v1",
    audience: "authenticated",
    party_claim: "client_id",
    types: ["jwt"],
    required: { session_id: [] },
    refused: { act: [], is_anonymous: [true] },
    name_claim: "user_metadata.full_name",
    email_verified_claim: null,
  },
  // All projects share the keys. Anyone can create anonymous people, who would each get starter credits.
  firebase: {
    ...ANY_ISSUER,
    name: "Firebase",
    issuer: "https://securetoken.google.com/{project_id}",
    jwks_uri:
      "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
    audience: "{project_id}",
    types: ["jwt"],
    refused: { act: [], "firebase.sign_in_provider": ["anonymous"] },
  },
  // The access token names its app client in `client_id`; it has no profile. A pool signs the tokens of all its clients.
  cognito: {
    ...ANY_ISSUER,
    name: "Amazon Cognito",
    issuer: "https://cognito-idp.{region}.amazonaws.com/{user_pool_id}",
    needs: ["authorized_parties"],
    party_claim: "client_id",
    types: ["jwt"],
    required: { token_use: ["access"] },
  },
  // Each client has its own keys. A token has a profile only if a JWT template adds it.
  workos: {
    ...ANY_ISSUER,
    name: "WorkOS",
    issuer: "https://api.workos.com/user_management/{client_id}",
    jwks_uri: "https://api.workos.com/sso/jwks/{client_id}",
    is_of_one_client: true,
    types: ["jwt"],
    required: { sid: [] },
  },
} as const satisfies Readonly<Record<string, IssuerPreset>>;
