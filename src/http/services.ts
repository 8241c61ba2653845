/** What a request may use of the rest of the house; the composition root puts it together. */
import type { Accounts } from "../account/clients/accounts.ts";
import type { UpstreamTokenVault } from "../account/clients/vault.ts";
import type { AccountDeletion } from "../operations/account_deletion.ts";
import type { ReserveStarter } from "../budget/client.ts";
import type { Config, Misconfiguration } from "../config/config.ts";
import type { DeviceLogins } from "../device/client.ts";
import type { DeviceCodes } from "../device/device_code.ts";
import type { RequestCopies } from "../device/request_copies.ts";
import type { AppRecords } from "../directory/app_records.ts";
import type { AppRegistry } from "../directory/apps.ts";
import type { AuditLog } from "../directory/audit.ts";
import type { RateLimitBinding, RateLimitRule } from "../domain/rate_limits.ts";
import type { Readiness } from "../domain/wire.ts";
import type { Result } from "../domain/result.ts";
import type { IdentityPort } from "../identity/port.ts";
import type { KeyRing } from "../keys/signing.ts";
import type { AskSocialNetwork } from "../oauth/social_network.ts";
import type { Payments } from "../payments/payments.ts";
import type { ReadModel } from "../readmodel/queries.ts";
import type { LivingPersonalTokens } from "../tokens/living_personal_tokens.ts";
import type { MintPersonalToken } from "../tokens/mint.ts";
import type { PersonalTokens } from "../tokens/personal_token.ts";
import type { SessionTokens } from "../tokens/session_token.ts";
import type { SignTemplateToken } from "../tokens/template_token.ts";
import type { KeepOwned } from "../operations/wildcards.ts";

/** Everything a request may use. */
export interface Services {
  readonly config: Config;
  readonly accounts: Accounts;
  readonly account_deletion: AccountDeletion;
  readonly apps: AppRegistry;
  /** Holds wildcards to the list of names that strangers get. */
  readonly keepOwned: KeepOwned;
  /** The registry as operators change it. */
  readonly app_records: AppRecords;
  /** Sets a starter grant apart of its app's budget of the day. */
  readonly reserve_starter: ReserveStarter;
  /** What operators did. */
  readonly audit: AuditLog;
  /** Lists across accounts, for operators. */
  readonly read_model: ReadModel;
  readonly identity: IdentityPort;
  readonly keys: KeyRing;
  readonly session_tokens: SessionTokens;
  readonly template_tokens: SignTemplateToken;
  /** What third-party providers gave for users. `keep` is the `KeepUpstreamTokens` of a sign-in. */
  readonly vault: UpstreamTokenVault;
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

/** The services of an environment, or what is wrong with its settings. */
export type ServicesFor = (env: Env) => Result<Services, Misconfiguration>;
