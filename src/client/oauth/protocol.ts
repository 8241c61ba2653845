/** Names of token exchange (RFC 8693), and the time limit of requests. */
export const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
export const ACCESS_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:access_token";
export const REFRESH_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:refresh_token";

/** How long one request may take, in milliseconds, unless the app says otherwise. */
export const TIMEOUT_MS = 10_000;
