/** A real OpenID provider on loopback. It rotates refresh tokens and revokes the grant if one is used twice. */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import { Provider } from "oidc-provider";

export const CLIENT = { client_id: "passbook", client_secret: "real-client-secret" };
const REDIRECT_URI = "https://passbook.test/signin/callback/real";

export interface GrantedTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
}

export interface RealProvider {
  readonly issuer: string;
  /** The number of successful refreshes. */
  refreshes(): number;
  /** The number of grants that it revoked because a refresh token was used twice. */
  revocations(): number;
  /** All access and refresh tokens that it issued. */
  issued(): readonly string[];
  /** Runs the code flow as a browser would, and gives consent. */
  grant(login: string): Promise<GrantedTokens>;
  /** The subject of an access token, from the user-info endpoint; null if the token is invalid. */
  subjectOf(access_token: string): Promise<string | null>;
  /** Revokes all grants, as a person does in the provider's settings. */
  revokeAll(): Promise<void>;
  /** Delays the token endpoint's responses until the returned function is called. */
  holdBack(): () => void;
  /** The number of delayed requests. */
  waiting(): number;
  stop(): Promise<void>;
  start(): Promise<void>;
}

interface GrantSuccess {
  readonly oidc: { readonly params: { readonly grant_type: string } };
  readonly body: GrantedTokens;
}

/** Starts the provider on a free port. */
export async function startRealProvider(
  port: number,
  redirect_uri = REDIRECT_URI,
): Promise<RealProvider> {
  const issuer = `http://localhost:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        ...CLIENT,
        redirect_uris: [redirect_uri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      },
    ],
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    ttl: { AccessToken: 3600, Grant: 86_400, RefreshToken: 86_400, Session: 86_400 },
    cookies: { keys: ["provider-cookie-key"] },
  });
  const issued: string[] = [];
  const grant_ids = new Set<string>();
  let refreshes = 0;
  let revocations = 0;
  let waiting = 0;
  let gate: Promise<void> | null = null;
  provider.on("refresh_token.saved", ({ grantId }: { grantId: string }) => grant_ids.add(grantId));
  provider.on("grant.success", ({ oidc, body }: GrantSuccess) => {
    if (oidc.params.grant_type === "refresh_token") refreshes += 1;
    issued.push(body.access_token, body.refresh_token);
  });
  provider.on("grant.revoked", () => (revocations += 1));
  provider.use(async (context: { path: string }, next: () => Promise<void>) => {
    if (context.path === "/token" && gate !== null) {
      waiting += 1;
      await gate;
      waiting -= 1;
    }
    await next();
  });
  const server = createServer(provider.callback());
  const start = (): Promise<void> => listen(server, port);
  await start();
  return {
    issuer,
    refreshes: () => refreshes,
    revocations: () => revocations,
    waiting: () => waiting,
    issued: () => issued,
    grant: (login) => runCodeFlow(issuer, login),
    async subjectOf(access_token) {
      const headers = { Authorization: `Bearer ${access_token}` };
      const answer = await fetch(`${issuer}/me`, { headers });
      if (!answer.ok) return null;
      const { sub } = (await answer.json()) as { sub: string };
      return sub;
    },
    async revokeAll() {
      for (const id of grant_ids) await provider.RefreshToken.revokeByGrantId(id);
    },
    holdBack() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = null;
        resolve();
      };
    },
    start,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve) => {
    server.listen(port, () => resolve());
  });
}

/** Follows redirects with cookies, fills in the two forms, and exchanges the code (RFC 7636). */
async function runCodeFlow(issuer: string, login: string): Promise<GrantedTokens> {
  const verifier = randomBytes(32).toString("base64url");
  const authorization = new URL(`${issuer}/auth`);
  authorization.search = new URLSearchParams({
    client_id: CLIENT.client_id,
    redirect_uri: REDIRECT_URI,
    response_type: "code",
    scope: "openid offline_access",
    prompt: "consent",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  }).toString();
  const back = await goThroughProvider(authorization, login, REDIRECT_URI);
  const code = back.searchParams.get("code") ?? "";
  const answer = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: {
      Authorization: `Basic ${btoa(`${CLIENT.client_id}:${CLIENT.client_secret}`)}`,
    },
    body: new URLSearchParams({
      grant_type: "authorization_code",
      redirect_uri: REDIRECT_URI,
      code_verifier: verifier,
      code,
    }),
  });
  return (await answer.json()) as GrantedTokens;
}

/** Completes the provider's forms as a browser does; returns the callback URL with the code. */
export async function goThroughProvider(
  start: URL,
  login: string,
  redirect_uri: string,
): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = start;
  let form: URLSearchParams | null = null;
  for (let step = 0; step < 20; step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer: Response = await fetch(url, {
      method: form === null ? "GET" : "POST",
      headers: { Cookie: cookie },
      body: form,
      redirect: "manual",
    });
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      const [name = "", ...value] = pair.split("=");
      cookies.set(name, value.join("="));
    }
    const html = await answer.text();
    const location = answer.headers.get("Location");
    if (location !== null) {
      url = new URL(location, url);
      form = null;
      if (url.href.startsWith(redirect_uri) && url.searchParams.has("code")) return url;
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1];
    if (prompt === undefined) throw new Error(`the provider showed no form: ${html}`);
    form = new URLSearchParams({ prompt, login, password: "any" });
  }
  throw new Error("the provider's sign-in did not end");
}
