/**
 * OAuth providers as configuration data (design, section 4, `SIGNIN_PROVIDERS`): presets for the
 * large ones, and any OAuth 2 or OpenID Connect issuer spelled out. Endpoints are static, so nothing
 * is discovered when the Worker starts or while it answers.
 */
import * as z from "zod/mini";
import { isLoopbackHost, parseAbsoluteUrl } from "../domain/origins.ts";

/** A provider, ready to be used. */
export interface OAuthProvider {
  /** In `/signin/{id}` and `/api/oauthToken/{id}`. */
  readonly id: string;
  /** On the button. */
  readonly name: string;
  /** `openid`: an ID token says who signed in; `oauth`: the user-info endpoint does. */
  readonly protocol: "openid" | "oauth";
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly userinfo_endpoint: string | null;
  readonly jwks_uri: string | null;
  readonly scope: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly client_authentication: "client_secret_basic" | "client_secret_post";
  /** Whether every answer names its issuer (RFC 9207): then one without is refused. */
  readonly authorization_response_iss_parameter_supported: boolean;
  /** Further parameters of the authorization request, such as Google's `access_type`. */
  readonly authorization_parameters: Readonly<Record<string, string>>;
  /** Where a person's data lies in the ID token or the user-info answer; dots descend. */
  readonly profile: ProfileFields;
}

/** Names of claims or fields; null where the provider has none. */
export interface ProfileFields {
  readonly subject: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly email_verified: string | null;
}

type Preset = Omit<OAuthProvider, "client_id" | "client_secret">;

const OPENID_PROFILE: ProfileFields = {
  subject: "sub",
  name: "name",
  email: "email",
  email_verified: "email_verified",
};

const PRESETS: Readonly<Record<"github" | "google" | "x", Preset>> = {
  github: {
    id: "github",
    name: "GitHub",
    protocol: "oauth",
    issuer: "https://github.com/login/oauth",
    authorization_endpoint: "https://github.com/login/oauth/authorize",
    token_endpoint: "https://github.com/login/oauth/access_token",
    userinfo_endpoint: "https://api.github.com/user",
    jwks_uri: null,
    scope: "read:user user:email",
    client_authentication: "client_secret_post",
    authorization_response_iss_parameter_supported: false,
    authorization_parameters: {},
    // The public profile address is not proof of a mailbox, so it counts as unverified.
    profile: { subject: "id", name: "name", email: "email", email_verified: null },
  },
  google: {
    id: "google",
    name: "Google",
    protocol: "openid",
    issuer: "https://accounts.google.com",
    authorization_endpoint: "https://accounts.google.com/o/oauth2/v2/auth",
    token_endpoint: "https://oauth2.googleapis.com/token",
    userinfo_endpoint: "https://openidconnect.googleapis.com/v1/userinfo",
    jwks_uri: "https://www.googleapis.com/oauth2/v3/certs",
    scope: "openid email profile",
    client_authentication: "client_secret_post",
    authorization_response_iss_parameter_supported: false,
    // Google gives a refresh token only for offline access, and again only after consent.
    authorization_parameters: { access_type: "offline", prompt: "consent" },
    profile: OPENID_PROFILE,
  },
  x: {
    id: "x",
    name: "X",
    protocol: "oauth",
    issuer: "https://x.com",
    authorization_endpoint: "https://x.com/i/oauth2/authorize",
    token_endpoint: "https://api.x.com/2/oauth2/token",
    userinfo_endpoint: "https://api.x.com/2/users/me",
    jwks_uri: null,
    scope: "users.read tweet.read offline.access",
    client_authentication: "client_secret_basic",
    authorization_response_iss_parameter_supported: false,
    authorization_parameters: {},
    profile: { subject: "data.id", name: "data.name", email: null, email_verified: null },
  },
};

/** An address that secrets may be sent to: https, or plain http towards this machine. */
export const secureEndpoint = z.string().check(
  z.refine((text) => {
    const url = parseAbsoluteUrl(text);
    if (url === null) return false;
    return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
  }, "must be an https address"),
);

const some_text = z.string().check(z.minLength(1));
const client = { client_id: some_text, client_secret: some_text };

const preset_provider = z.pipe(
  z.strictObject({
    preset: z.enum(["github", "google", "x"]),
    scope: z.optional(some_text),
    ...client,
  }),
  z.transform(({ preset, scope, ...credentials }): OAuthProvider => {
    const base = PRESETS[preset];
    return { ...base, ...credentials, scope: scope ?? base.scope };
  }),
);

const text_or_null = z._default(z.nullable(z.string()), null);
const endpoint_or_null = z._default(z.nullable(secureEndpoint), null);

const profile_fields = z.strictObject({
  subject: some_text,
  name: text_or_null,
  email: text_or_null,
  email_verified: text_or_null,
});

const spelled_out_provider = z
  .pipe(
    z.strictObject({
      // "dev" is the development sign-in's own name for its identities.
      id: z
        .string()
        .check(
          z.regex(
            /^(?!dev$|callback$)[a-z0-9][a-z0-9-]{0,31}$/,
            "must be 1 to 32 of a-z 0-9 -, and neither dev nor callback",
          ),
        ),
      name: z.string().check(z.minLength(1), z.maxLength(64)),
      issuer: secureEndpoint,
      authorization_endpoint: secureEndpoint,
      token_endpoint: secureEndpoint,
      userinfo_endpoint: endpoint_or_null,
      jwks_uri: endpoint_or_null,
      scope: some_text,
      client_authentication: z._default(
        z.enum(["client_secret_basic", "client_secret_post"]),
        "client_secret_basic",
      ),
      authorization_response_iss_parameter_supported: z._default(z.boolean(), false),
      authorization_parameters: z._default(z.record(z.string(), z.string()), {}),
      profile: z._default(profile_fields, OPENID_PROFILE),
      ...client,
    }),
    z.transform((provider): OAuthProvider => {
      const openid = provider.scope.split(" ").includes("openid");
      return { ...provider, protocol: openid ? "openid" : "oauth" };
    }),
  )
  .check(
    z.refine((provider) => provider.protocol === "oauth" || provider.jwks_uri !== null, {
      path: ["jwks_uri"],
      error: "is missing, and the scope openid needs it",
    }),
    z.refine((provider) => provider.protocol === "openid" || provider.userinfo_endpoint !== null, {
      path: ["userinfo_endpoint"],
      error: "is missing, and a scope without openid needs it",
    }),
  );

/** `SIGNIN_PROVIDERS`: an array of presets and spelled-out providers with distinct ids. */
export const signInProviders = z.array(z.union([preset_provider, spelled_out_provider])).check(
  z.superRefine((providers, context) => {
    const ids = providers.map(({ id }) => id);
    for (const [place, id] of ids.entries()) {
      const first = ids.indexOf(id);
      if (first === place) continue;
      const message = `is the same as that of entry ${first + 1}`;
      context.addIssue({ code: "custom", path: [place, "id"], message });
    }
  }),
);
