/** The composition root: the only place, beside `worker.ts`, that names concrete adapters. */
import { createAccounts, type Accounts } from "./account/client.ts";
import { createTokenVault, type TokenVault } from "./account/vault_client.ts";
import { readConfig, type Config, type Misconfiguration } from "./config.ts";
import { createDeviceLogins, type DeviceLogins } from "./device/client.ts";
import { createAskedCodes, type AskedCodes } from "./device/asked_codes.ts";
import { createDeviceCodes, type DeviceCodes } from "./device/device_code.ts";
import type { Readiness } from "./domain/readiness.ts";
import { accepted, type Result } from "./domain/result.ts";
import { createBuiltinProvider } from "./identity/builtin/provider.ts";
import type { IdentityProvider } from "./identity/port.ts";
import { createAppRegistry, type AppRegistry } from "./readmodel/apps.ts";
import { askDatabase, createReadiness } from "./readiness.ts";
import { createKeyRing, type KeyRing } from "./tokens/keys.ts";
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
  readonly device_logins: DeviceLogins;
  readonly device_codes: DeviceCodes;
  readonly asked_codes: AskedCodes;
  /** Whether the stores and keys answer now, or did a moment ago. */
  readonly readiness: () => Promise<Readiness>;
  readonly limits: {
    readonly authenticated: RateLimit;
    readonly social_me: RateLimit;
    readonly device_start: RateLimit;
    readonly device_attempt: RateLimit;
    readonly device_network: RateLimit;
    readonly device_unknown: RateLimit;
  };
}

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
  const session_tokens = createSessionTokens(keys);
  const vault = createTokenVault(accounts, config);
  return accepted({
    config,
    accounts,
    apps: createAppRegistry(env.DB),
    identity: createBuiltinProvider({
      database: env.DB,
      cookie_scope: { domain: config.cookie_domain },
      dev_signin: config.dev_signin,
      providers: config.signin_providers,
      encryption_keys: config.encryption_keys,
      keep_upstream_tokens: (identity_id, tokens) => vault.keep(identity_id, tokens),
      forget_upstream_tokens: (identity_id, provider) => vault.forget(identity_id, provider),
    }),
    keys,
    session_tokens,
    template_tokens: createTemplateTokens(keys),
    vault,
    personal_tokens: createPersonalTokens(
      createMacKeys(config.signing_keys, "passbook personal token 1"),
    ),
    device_logins: createDeviceLogins(env.DEVICE_LOGIN),
    device_codes: createDeviceCodes(createMacKeys(config.signing_keys, "passbook device code 1")),
    asked_codes: createAskedCodes(env.DEVICE_CODES),
    readiness: createReadiness({
      directory: askDatabase(env.DB),
      read_model: askDatabase(env.DB),
      codes: () => env.DEVICE_CODES.get("readiness"),
      keys: () => proveKeys(session_tokens),
    }),
    limits: {
      authenticated: env.LIMIT_AUTHENTICATED,
      social_me: env.LIMIT_SOCIAL_ME,
      device_start: env.LIMIT_DEVICE_START,
      device_attempt: env.LIMIT_DEVICE_ATTEMPT,
      device_network: env.LIMIT_DEVICE_NETWORK,
      device_unknown: env.LIMIT_DEVICE_UNKNOWN,
    },
  });
}

/** Signs a token and verifies it. @throws where the keys do neither. */
async function proveKeys(session_tokens: SessionTokens): Promise<void> {
  const issuer = "readiness";
  const about = { identity_id: issuer, proof: { kind: "session", session_id: issuer } } as const;
  const token = await session_tokens.sign(issuer, about);
  if ((await session_tokens.verify(issuer, token)) === null) throw new Error("keys do not verify");
}
