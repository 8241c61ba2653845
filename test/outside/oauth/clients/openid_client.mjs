/** The same flow with openid-client, which is certified, and with oauth4webapi, on which it builds. */
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";

/** `visit` is the person's browser: it returns the address of the redirect. */
export async function useOpenidClient({
  issuer,
  client_id,
  client_secret,
  redirect_uri,
  scope,
  visit,
}) {
  const authentication = client_secret === undefined ? openid.None() : undefined;
  const config = await openid.discovery(new URL(issuer), client_id, client_secret, authentication, {
    execute: [openid.allowInsecureRequests],
  });
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri,
    scope,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    state: expectedState,
    nonce: expectedNonce,
    max_age: "3600",
  });
  const returned = await visit(url);
  const checks = {
    pkceCodeVerifier,
    expectedState,
    expectedNonce,
    maxAge: 3600,
    idTokenExpected: true,
  };
  const tokens = await openid.authorizationCodeGrant(config, returned, checks);
  const { sub } = tokens.claims();
  const userinfo = await openid.fetchUserInfo(config, tokens.access_token, sub);
  const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token);
  await openid.fetchUserInfo(config, refreshed.access_token, sub);
  await openid.tokenRevocation(config, refreshed.refresh_token);
  const ended = await openid
    .refreshTokenGrant(config, refreshed.refresh_token)
    .catch((error) => error.error);
  return { sub, userinfo, ended };
}

/** `visit` is as above. The signature of the ID token is verified too. */
export async function useOauth4webapi({
  issuer,
  client_id,
  client_secret,
  redirect_uri,
  scope,
  visit,
}) {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const address = new URL(issuer);
  const discovered = await oauth.discoveryRequest(address, { ...insecure, algorithm: "oauth2" });
  const server = await oauth.processDiscoveryResponse(address, discovered);
  const client = { client_id };
  const authentication =
    client_secret === undefined ? oauth.None() : oauth.ClientSecretPost(client_secret);
  const verifier = oauth.generateRandomCodeVerifier();
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
  const url = new URL(server.authorization_endpoint);
  url.search = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: "code",
    scope,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce,
  });
  const parameters = oauth.validateAuthResponse(server, client, await visit(url), state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    parameters,
    redirect_uri,
    verifier,
    insecure,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  await oauth.validateApplicationLevelSignature(server, response, insecure);
  const claims = oauth.getValidatedIdTokenClaims(tokens);
  const requested = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
  const userinfo = await oauth.processUserInfoResponse(server, client, claims.sub, requested);
  const refreshing = await oauth.refreshTokenGrantRequest(
    server,
    client,
    authentication,
    tokens.refresh_token,
    insecure,
  );
  const refreshed = await oauth.processRefreshTokenResponse(server, client, refreshing);
  return { sub: claims.sub, userinfo, refreshed: refreshed.refresh_token !== tokens.refresh_token };
}

/** A device login (RFC 8628). `approve` is the person who enters the code. */
export async function useOpenidDevice({ issuer, client_id, scope, approve }) {
  const config = await openid.discovery(new URL(issuer), client_id, undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
  });
  const started = await openid.initiateDeviceAuthorization(config, { scope });
  const collecting = openid.pollDeviceAuthorizationGrant(config, started);
  await approve(started.user_code);
  return collecting;
}
