/**
 * OAuth providers as settings (`SIGNIN_PROVIDERS`): presets for large providers, and any OAuth 2 or OpenID
 * Connect issuer with all its fields. Endpoints are static, so nothing is discovered at start or during a
 * request.
 */
import * as z from "zod/mini";
import { isLoopbackHost, parseAbsoluteUrl } from "../domain/origins.ts";

/** A provider with all its settings. */
export interface OAuthProvider {
  readonly id: string;
  readonly name: string;
  /** `openid`: an ID token names the subject. `oauth`: the user-info endpoint does. */
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
  /** Whether each response names its issuer (RFC 9207). If so, one without is refused. */
  readonly authorization_response_iss_parameter_supported: boolean;
  readonly authorization_parameters: Readonly<Record<string, string>>;
  /** The `prompt` that asks a person who is signed in there to sign in again, or at least to choose an account; null: none. */
  readonly again_prompt: "login" | "select_account" | null;
  /**
   * The fields of the ID token or the user-info response that have a person's data. A dot means a nested field.
   */
  readonly profile: ProfileFields;
}

/** Names of claims or fields; null: the provider has none. */
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
    again_prompt: "select_account",
    // GitHub does not verify the public address of a profile.
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
    // Google issues a refresh token only for offline access, and a second one only after consent.
    authorization_parameters: { access_type: "offline", prompt: "consent" },
    // Google documents no `login`, and refuses values that it does not know.
    again_prompt: "select_account",
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
    again_prompt: null,
    profile: { subject: "data.id", name: "data.name", email: null, email_verified: null },
  },
};

/** An address to which secrets may be sent: https, or plain http to this machine. */
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
      // "dev" is the provider of the development sign-in. The others are paths under /signin.
      id: z
        .string()
        .check(
          z.regex(
            /^(?!dev$|callback$|passkey$)[a-z0-9][a-z0-9-]{0,31}$/,
            "must have 1 to 32 characters of a-z 0-9 - and not be dev, callback or passkey",
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
      return openid
        ? { ...provider, protocol: "openid", again_prompt: "login" }
        : { ...provider, protocol: "oauth", again_prompt: null };
    }),
  )
  .check(
    z.refine((provider) => provider.protocol === "oauth" || provider.jwks_uri !== null, {
      path: ["jwks_uri"],
      error: "is missing: the scope openid requires it",
    }),
    z.refine((provider) => provider.protocol === "openid" || provider.userinfo_endpoint !== null, {
      path: ["userinfo_endpoint"],
      error: "is missing: a scope without openid requires it",
    }),
  );

/** `SIGNIN_PROVIDERS`: an array of presets and complete providers with distinct ids. */
export const signInProviders = z.array(z.union([preset_provider, spelled_out_provider])).check(
  z.superRefine((providers, context) => {
    const ids = providers.map(({ id }) => id);
    for (const [index, id] of ids.entries()) {
      const first = ids.indexOf(id);
      if (first === index) continue;
      const message = `is the same as that of entry ${first + 1}`;
      context.addIssue({ code: "custom", path: [index, "id"], message });
    }
  }),
);
