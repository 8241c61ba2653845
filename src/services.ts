/** The composition root: the only place, beside `worker.ts`, that names concrete adapters. */
import { createAccountDeletion, type AccountDeletion } from "./account_deletion.ts";
import { createAccounts, type Accounts } from "./account/client.ts";
import { createTokenVault, type TokenVault } from "./account/vault/client.ts";
import { createStarterBudgets, type ReserveStarter } from "./budget/client.ts";
import { mistakenSettings, readConfig, type Config, type Misconfiguration } from "./config.ts";
import { createDeviceLogins, type DeviceLogins } from "./device/client.ts";
import { createRequestCopies, type RequestCopies } from "./device/request_copies.ts";
import { createDeviceCodes, type DeviceCodes } from "./device/device_code.ts";
import { createAppRecords, type AppRecords } from "./directory/app_records.ts";
import { createAppRegistry, type AppRegistry } from "./directory/apps.ts";
import { createAuditLog, type AuditLog } from "./directory/audit.ts";
import { createDeletionNotes } from "./directory/deletions.ts";
import type { RateLimitBinding, RateLimitRule } from "./domain/rate_limits.ts";
import type { Readiness } from "./domain/readiness.ts";
import { accepted, type Result } from "./domain/result.ts";
import { createBuiltinAdapter } from "./identity/builtin/adapter.ts";
import { announceSessionEndings } from "./identity/session_endings.ts";
import type { IdentityProvider } from "./identity/port.ts";
import { createMacKeys } from "./keys/mac.ts";
import { createPseudonyms } from "./keys/pseudonym.ts";
import { createKeyRing, type KeyRing } from "./keys/signing.ts";
import { createSocialNetwork, type AskSocialNetwork } from "./oauth/social_network.ts";
import type { Payments } from "./payments/payments.ts";
import { createStripe } from "./payments/stripe.ts";
import type { Delivery } from "./readmodel/projector.ts";
import { createReadModel, type ReadModel } from "./readmodel/queries.ts";
import { consumeProjections } from "./readmodel/queue_projector.ts";
import { tidyReadModel } from "./readmodel/retention.ts";
import { createStraightProjector } from "./readmodel/straight_projector.ts";
import { askDatabase, createReadiness } from "./readiness.ts";
import { sayProblem } from "./setting_problems.ts";
import {
  createLivingPersonalTokens,
  type LivingPersonalTokens,
} from "./tokens/living_personal_tokens.ts";
import { createMint, type MintPersonalToken } from "./tokens/mint.ts";
import { createPersonalTokens, type PersonalTokens } from "./tokens/personal_token.ts";
import { createSessionTokens, type SessionTokens } from "./tokens/session_token.ts";
import { createTemplateTokens, type SignTemplateToken } from "./tokens/template_token.ts";
import { runUpkeep } from "./upkeep.ts";

/** Everything a request may use. */
export interface Services {
  readonly config: Config;
  readonly accounts: Accounts;
  readonly account_deletion: AccountDeletion;
  readonly apps: AppRegistry;
  /** The registry as operators change it. */
  readonly app_records: AppRecords;
  /** Sets a starter grant apart of its app's budget of the day. */
  readonly reserve_starter: ReserveStarter;
  /** What operators did. */
  readonly audit: AuditLog;
  /** Lists across accounts, for operators. */
  readonly read_model: ReadModel;
  readonly identity: IdentityProvider;
  readonly keys: KeyRing;
  readonly session_tokens: SessionTokens;
  readonly template_tokens: SignTemplateToken;
  /** What third-party providers gave for users. `keep` is the `KeepUpstreamTokens` of a sign-in. */
  readonly vault: TokenVault;
  /** Null where the settings name no network. */
  readonly social_network: AskSocialNetwork | null;
  readonly personal_tokens: PersonalTokens;
  readonly mint_personal_token: MintPersonalToken;
  readonly device_logins: DeviceLogins;
  readonly device_codes: DeviceCodes;
  readonly request_copies: RequestCopies;
  /** Whether the stores and keys answer now, or did a moment ago. */
  readonly readiness: () => Promise<Readiness>;
  /** The limiter of a rule. */
  readonly limiters: (rule: RateLimitRule<RateLimitBinding>) => RateLimit;
  readonly living_personal_tokens: LivingPersonalTokens;
  /** Null where nothing is sold. */
  readonly payments: Payments | null;
}

/** The person whose session approved: it left a grant, and stands behind what comes of it. */
const OWNER = { personal_token_id: null };

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
  for (const mistaken of mistakenSettings(env)) {
    console.warn({ event: "setting_unknown", ...mistaken });
  }
  const read = readConfig(env);
  if (!read.ok) {
    console.error({ event: "misconfigured", problems: read.refusal.problems.map(sayProblem) });
    return read;
  }
  const config = read.value;
  const accounts = createAccounts(env.ACCOUNT);
  const keys = createKeyRing(config.signing_keys);
  const session_tokens = createSessionTokens(keys);
  const vault = createTokenVault(accounts, {
    encryption_keys: config.encryption_keys,
    providers: config.signin_providers,
  });
  const personal_tokens = createPersonalTokens(
    createMacKeys(config.signing_keys, "passbook personal token 1"),
  );
  const pseudonymsOf = createPseudonyms(createMacKeys(config.signing_keys, "passbook pseudonym 1"));
  const audit = createAuditLog(env.DIRECTORY);
  const identity = announceSessionEndings(
    createBuiltinAdapter({
      database: env.DIRECTORY,
      base_url: config.base_url,
      dev_signin: config.dev_signin,
      providers: config.signin_providers,
      encryption_keys: config.encryption_keys,
      pseudonyms_of: pseudonymsOf,
      open_returned: (identity_id) => accounts(identity_id).openReturned(),
      keep_upstream_tokens: (identity_id, tokens) => vault.keep(identity_id, tokens),
      forget_upstream_tokens: (identity_id, provider, linked_at_ms) =>
        vault.forget(identity_id, provider, linked_at_ms),
    }),
    (identity_id, session_ids) => accounts(identity_id).endSessions(session_ids),
  );
  const apps = createAppRegistry({
    database: env.DIRECTORY,
    default_starter_credits: config.default_starter_credits,
  });
  return accepted({
    config,
    accounts,
    apps,
    app_records: createAppRecords(env.DIRECTORY, () => apps.forget()),
    reserve_starter: createStarterBudgets(env.STARTER_BUDGET),
    audit,
    account_deletion: createAccountDeletion({
      notes: createDeletionNotes(env.DIRECTORY),
      closeAccount: (identity_id) => accounts(identity_id).deleteAccount(OWNER),
      isClosed: (identity_id) => accounts(identity_id).isDeleted(),
      forget: [
        (identity_id) => identity.forgetPerson(identity_id),
        async (identity_id) => {
          const [pseudonym] = await pseudonymsOf(["person", identity_id]);
          await audit.forgetPerson(identity_id, `deleted_${pseudonym}`);
        },
      ],
    }),
    read_model: createReadModel(env.DB),
    identity,
    keys,
    session_tokens,
    template_tokens: createTemplateTokens(keys),
    vault,
    social_network:
      config.social_api_url === null ? null : createSocialNetwork(config.social_api_url),
    personal_tokens,
    mint_personal_token: createMint({
      personal_tokens,
      ttl_days: config.pat_ttl_days,
      issue: (identity_id, token) => accounts(identity_id).issuePersonalToken(OWNER, token),
      revoke: (identity_id, id) => accounts(identity_id).revokePersonalToken(OWNER, { id }),
      sessionIsAlive: (session_id, identity_id) => identity.sessionIsAlive(session_id, identity_id),
    }),
    device_logins: createDeviceLogins(env.DEVICE_LOGIN),
    device_codes: createDeviceCodes(createMacKeys(config.signing_keys, "passbook device code 1")),
    request_copies: createRequestCopies(env.DEVICE_CODES),
    readiness: createReadiness({
      directory: askDatabase(env.DIRECTORY),
      read_model: askDatabase(env.DB),
      codes: () => env.DEVICE_CODES.get("readiness"),
      keys: () => proveKeys(session_tokens),
    }),
    limiters: ({ binding }) => env[binding],
    living_personal_tokens: createLivingPersonalTokens(),
    payments:
      config.payments === null
        ? null
        : createStripe({ ...config.payments, service: config.base_url ?? "development" }),
  });
}

/** What takes a batch of the queue `PROJECTIONS`. It needs no settings: what is owed arrives on wrong ones too. */
export function projectionConsumer(env: Env): (batch: MessageBatch<Delivery>) => Promise<void> {
  const accounts = createAccounts(env.ACCOUNT);
  const projector = createStraightProjector(env.DB);
  const catchUp = (identity_id: string): Promise<void> => accounts(identity_id).catchUp();
  return (batch) => consumeProjections(batch, { projector, catchUp });
}

/** What the schedule runs. @throws where the settings are wrong, or a part failed. */
export function upkeepOf(env: Env): () => Promise<void> {
  const services = servicesFor(env);
  if (!services.ok) throw new Error("misconfigured");
  const { config, identity, account_deletion } = services.value;
  return () =>
    runUpkeep({
      read_model: () => tidyReadModel(env.DB, config.read_model_days, Date.now()),
      sessions: () => identity.deleteEndedSessions(),
      deletions: () => account_deletion.finishNoted(Date.now()),
    });
}

/** Signs a token and verifies it. @throws where the keys do neither. */
async function proveKeys(session_tokens: SessionTokens): Promise<void> {
  const issuer = "readiness";
  const proof = { kind: "session", session_id: issuer } as const;
  const about = { identity_id: issuer, proof, binding: null };
  const token = await session_tokens.sign(issuer, about);
  if ((await session_tokens.verify(issuer, token)) === null) throw new Error("keys do not verify");
}
