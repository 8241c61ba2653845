/**
 * The documents that clients read first: the server's metadata (RFC 8414; OpenID Connect Discovery 1.0), and that of
 * our API as a protected resource (RFC 9728). Nothing is read for it.
 */
import { CLIENT_SCOPES, OAUTH_SCOPES } from "../../domain/oauth_scopes.ts";
import { ASSERTION_ALGORITHMS } from "../../domain/oauth_client.ts";
import { factory } from "../context.ts";
import { REGISTRATION_PATH } from "./development_registration.ts";
import { SPENDING_TYPE } from "./spending_details.ts";
import { GRANT_TYPES } from "./token.ts";

const CACHED = "public, max-age=300";

const SECRET_METHODS = ["client_secret_basic", "client_secret_post"];
const AUTH_METHODS = ["none", ...SECRET_METHODS, "private_key_jwt"];

export const readMetadata = factory.createHandlers((context) => {
  const issuer = context.get("base_url");
  context.header("Cache-Control", CACHED);
  return context.json({
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    device_authorization_endpoint: `${issuer}/oauth/device_authorization`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    userinfo_endpoint: `${issuer}/oauth/userinfo`,
    end_session_endpoint: `${issuer}/oauth/logout`,
    ...(context.get("services").config.dev_signin
      ? { registration_endpoint: `${issuer}${REGISTRATION_PATH}` }
      : {}),
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: OAUTH_SCOPES,
    authorization_details_types_supported: [SPENDING_TYPE],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: GRANT_TYPES,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    introspection_endpoint_auth_methods_supported: SECRET_METHODS,
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    claim_types_supported: ["normal"],
    claims_supported: [
      "sub",
      "iss",
      "aud",
      "exp",
      "iat",
      "auth_time",
      "nonce",
      "name",
      "email",
      "email_verified",
    ],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    // Absent would mean true.
    request_uri_parameter_supported: false,
    prompt_values_supported: ["none", "login", "consent", "select_account"],
  });
});

export const readResourceMetadata = factory.createHandlers((context) => {
  const issuer = context.get("base_url");
  context.header("Cache-Control", CACHED);
  return context.json({
    resource: issuer,
    authorization_servers: [issuer],
    scopes_supported: CLIENT_SCOPES,
    bearer_methods_supported: ["header"],
  });
});
