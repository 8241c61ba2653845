/** Documents of OAuth clients in the form that well-known MCP clients published in 2026. */

export const CHATGPT = {
  client_id: "https://chatgpt.com/oauth/a1B2c3D4e5F6/client.json",
  client_uri: "https://chatgpt.com/",
  redirect_uris: ["https://chatgpt.com/connector/oauth/a1B2c3D4e5F6"],
  token_endpoint_auth_method: "private_key_jwt",
  token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  client_name: "ChatGPT",
  token_endpoint_auth_signing_alg: "RS256",
  jwks_uri: "https://chatgpt.com/oauth/jwks.json",
};

export const CLAUDE = {
  client_id: "https://claude.ai/oauth/mcp-oauth-client-metadata",
  client_name: "Claude",
  client_uri: "https://claude.ai",
  redirect_uris: [
    "https://claude.ai/api/mcp/auth_callback",
    "https://claude.com/api/mcp/auth_callback",
  ],
  // The last one is a grant type that we lack.
  grant_types: [
    "authorization_code",
    "refresh_token",
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
  ],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

export const CLAUDE_CODE = {
  client_id: "https://claude.ai/oauth/claude-code-client-metadata",
  client_name: "Claude Code",
  client_uri: "https://claude.ai",
  redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

export const CURSOR = {
  client_id: "https://cursor.com/.well-known/oauth-client.json",
  client_name: "Cursor",
  redirect_uris: [
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "https://www.cursor.com/agents/mcp/oauth/callback",
    "http://localhost:8787/callback",
  ],
  grant_types: [
    "authorization_code",
    "refresh_token",
    "urn:ietf:params:oauth:grant-type:device_code",
  ],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

export const VS_CODE = {
  client_id: "https://vscode.dev/oauth/client-metadata.json",
  client_name: "Visual Studio Code",
  client_uri: "https://code.visualstudio.com",
  application_type: "native",
  redirect_uris: [
    "http://127.0.0.1:33418/",
    "http://127.0.0.1/",
    "http://localhost/",
    "https://vscode.dev/redirect",
    "https://insiders.vscode.dev/redirect",
  ],
  grant_types: [
    "authorization_code",
    "refresh_token",
    "urn:ietf:params:oauth:grant-type:device_code",
  ],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

export const CLIENT_DOCUMENTS = [CHATGPT, CLAUDE, CLAUDE_CODE, CURSOR, VS_CODE];
