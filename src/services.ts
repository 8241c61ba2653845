/** The composition root: the only place, beside `worker.ts`, that names concrete adapters. */
import { createAccounts, type Accounts } from "./account/client.ts";
import { createTokenVault, type TokenVault } from "./account/vault_client.ts";
import { readConfig, type Config, type Misconfiguration } from "./config.ts";
import { createDeviceLogins, type DeviceLogins } from "./device/client.ts";
import { createRequestCopies, type RequestCopies } from "./device/request_copies.ts";
import { createDeviceCodes, type DeviceCodes } from "./device/device_code.ts";
import type { RateLimitBinding, RateLimitRule } from "./domain/rate_limits.ts";
import { accepted, type Result } from "./domain/result.ts";
import { createLivingTokens, type LivingTokens } from "./http/living_tokens.ts";
import { createBuiltinProvider } from "./identity/builtin/provider.ts";
import type { IdentityProvider } from "./identity/port.ts";
import { createAppRegistry, type AppRegistry } from "./readmodel/apps.ts";
import { createKeyRing, type KeyRing } from "./tokens/keys.ts";
import { createMint, type MintPersonalToken } from "./tokens/mint.ts";
import { createMacKeys } from "./tokens/mac_keys.ts";
import { createPersonalTokens, type PersonalTokens } from "./tokens/personal_token.ts";
import { createSessionTokens, type SessionTokens } from "./tokens/session_jwt.ts";
import { createTemplateTokens, type SignTemplateToken } from "./tokens/template_token.ts";

/** Everything a request may use. */
export interface Services {
  readonly config: Config;
  readonly accounts: Accounts;
  readonly apps: AppRegistry;
  readonly identity: IdentityProvider;
  readonly keys: KeyRing;
  readonly session_tokens: SessionTokens;
  readonly template_tokens: SignTemplateToken;
  /** What third-party providers gave for users. `keep` is the `KeepUpstreamTokens` of a sign-in. */
  readonly vault: TokenVault;
  readonly personal_tokens: PersonalTokens;
  readonly mint_personal_token: MintPersonalToken;
  readonly device_logins: DeviceLogins;
  readonly device_codes: DeviceCodes;
  readonly request_copies: RequestCopies;
  /** The limiter of a rule. */
  readonly limiters: (rule: RateLimitRule<RateLimitBinding>) => RateLimit;
  readonly living_tokens: LivingTokens;
}

/** The person whose session approved: it left a grant, and stands behind what comes of it. */
const OWNER = { token_id: null };

const built = new WeakMap<Env, Result<Services, Misconfiguration>>();

/** The services of an environment, built once in an isolate. */
export function servicesFor(env: Env): Result<Services, Misconfiguration> {
  const known = built.get(env);
  if (known !== undefined) return known;
  const services = build(env);
  built.set(env, services);
  return services;
}

function build(env: Env): Result<Services, Misconfiguration> {
  const read = readConfig(env);
  if (!read.ok) {
    console.error({ event: "misconfigured", ...read.refusal });
    return read;
  }
  const config = read.value;
  const accounts = createAccounts(env.ACCOUNT);
  const keys = createKeyRing(config.signing_keys);
  const vault = createTokenVault(accounts, config);
  const personal_tokens = createPersonalTokens(
    createMacKeys(config.signing_keys, "passbook personal token 1"),
  );
  const identity = createBuiltinProvider({
    database: env.DB,
    cookie_scope: { domain: config.cookie_domain },
    dev_signin: config.dev_signin,
    providers: config.signin_providers,
    encryption_keys: config.encryption_keys,
    keep_upstream_tokens: (identity_id, tokens) => vault.keep(identity_id, tokens),
    forget_upstream_tokens: (identity_id, provider) => vault.forget(identity_id, provider),
  });
  return accepted({
    config,
    accounts,
    apps: createAppRegistry(env.DB),
    identity,
    keys,
    session_tokens: createSessionTokens(keys),
    template_tokens: createTemplateTokens(keys),
    vault,
    personal_tokens,
    mint_personal_token: createMint({
      personal_tokens,
      ttl_days: config.pat_ttl_days,
      issue: (identity_id, token) => accounts(identity_id).issueToken(OWNER, token),
      revoke: (identity_id, id) => accounts(identity_id).revokeToken(OWNER, { id }),
      sessionIsAlive: (session_id, identity_id) => identity.sessionIsAlive(session_id, identity_id),
    }),
    device_logins: createDeviceLogins(env.DEVICE_LOGIN),
    device_codes: createDeviceCodes(createMacKeys(config.signing_keys, "passbook device code 1")),
    request_copies: createRequestCopies(env.DEVICE_CODES),
    limiters: ({ binding }) => env[binding],
    living_tokens: createLivingTokens(),
  });
}
