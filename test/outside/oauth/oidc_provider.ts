/** `oidc-provider`, which is certified, as a server under test: it shows that the modules test the standard. */
import { createServer } from "node:http";
import { Provider } from "oidc-provider";
import { openVisitor } from "../../worker/oauth/conformance/visitor.ts";
import type { Client, Target } from "../../worker/oauth/conformance/target.ts";

const REDIRECT_URI = "https://client.test/callback";

const clientOf = (client_id: string, authentication: "basic" | "post"): Client => ({
  client_id,
  client_secret: `${client_id}-secret`,
  authentication,
  redirect_uri: REDIRECT_URI,
});

const CLIENTS = {
  basic: clientOf("basic", "basic"),
  post: clientOf("post", "post"),
  other: clientOf("other", "basic"),
};

/** A person with every standard claim. */
const CLAIMS = {
  address: { country: "GB" },
  birthdate: "1815-12-10",
  email: "ada@example.com",
  email_verified: true,
  family_name: "Lovelace",
  gender: "female",
  given_name: "Ada",
  locale: "en-GB",
  middle_name: "King",
  name: "Ada Lovelace",
  nickname: "Ada",
  phone_number: "+44 20 7946 0000",
  phone_number_verified: true,
  picture: "https://example.com/ada.png",
  preferred_username: "ada",
  profile: "https://example.com/ada",
  updated_at: 1_700_000_000,
  website: "https://example.com",
  zoneinfo: "Europe/London",
};

export interface OidcProvider extends Target {
  stop(): void;
}

/** Starts the provider on a free port. */
export async function startOidcProvider(port: number): Promise<OidcProvider> {
  const issuer = `http://localhost:${port}`;
  const provider = new Provider(issuer, {
    clients: Object.values(CLIENTS).map(({ client_id, client_secret, authentication }) => ({
      client_id,
      client_secret,
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method:
        authentication === "basic" ? "client_secret_basic" : "client_secret_post",
    })),
    claims: {
      openid: ["sub", "auth_time"],
      email: ["email", "email_verified"],
      address: ["address"],
      phone: ["phone_number", "phone_number_verified"],
      profile: Object.keys(CLAIMS).filter((name) => !/^(?:address|email|phone)/.test(name)),
    },
    features: { claimsParameter: { enabled: true } },
    pkce: { required: () => false },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ ...CLAIMS, sub: accountId }),
    }),
    enableHttpPostMethods: true,
    cookies: { keys: ["provider-cookie-key"], long: { sameSite: "none" } },
  });
  const server = createServer(provider.callback());
  await new Promise<void>((resolve) => server.listen(port, resolve));
  return {
    issuer,
    fetch: (url, init) => fetch(url, init),
    clients: CLIENTS,
    openVisitor: () => openVisitor(issuer, fetch),
    fill(visitor, { forms: [form] }, email) {
      const prompt = form?.fields.find(({ name }) => name === "prompt")?.value;
      if (form === undefined || prompt === undefined) return null;
      if (prompt === "consent") return { step: "consent", next: visitor.submit(form) };
      const next = visitor.submit(form, { login: email, password: "any" });
      return { step: "sign_in", next };
    },
    wait: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
