/** The services that a request may use. The composition root builds them. */
import type { Accounts } from "../account/clients/accounts.ts";
import type { UpstreamTokenSource, UpstreamTokenVault } from "../account/clients/vault.ts";
import type { ClientAuthentication } from "../authorization/authentication.ts";
import type { ClientIcons } from "../authorization/client_icons.ts";
import type { Clients } from "../authorization/clients.ts";
import type { AccountDeletion } from "../operations/account_deletion.ts";
import type { CopyAppIcon } from "../operations/app_icon_copy.ts";
import type { PaymentBooking } from "../operations/payment_booking.ts";
import type { PaymentReconciliation } from "../operations/payment_reconciliation.ts";
import type { ReserveStarter } from "../budget/client.ts";
import type { ArchiveStore } from "../archive/store.ts";
import type { Config, Misconfiguration } from "../config/config.ts";
import type { DeviceLogins } from "../device/client.ts";
import type { DeviceCodes } from "../device/device_code.ts";
import type { RequestCopies } from "../device/request_copies.ts";
import type { AppIcons } from "../directory/app_icons.ts";
import type { NoteUse } from "../directory/last_uses.ts";
import type { AppPauses } from "../directory/app_pauses.ts";
import type { DirectoryCopy } from "../directory/directory_copy.ts";
import type { AppRecords } from "../directory/app_records.ts";
import type { AppRegistry } from "../directory/apps.ts";
import type { OAuthRecords } from "../directory/oauth_records.ts";
import type { PlanRecords } from "../directory/plan_records.ts";
import type { AuditLog } from "../directory/audit.ts";
import type { SupportCredits } from "../directory/support_credits.ts";
import type { WebhookRecords } from "../directory/webhook_records.ts";
import type { Webhooks } from "../directory/webhooks.ts";
import type { WebhookEngine } from "../webhooks/engine.ts";
import type { DeliveriesParts } from "../webhooks/deliveries.ts";
import type { SenderParts } from "../webhooks/sender.ts";
import type { FailureCounter } from "../directory/failures.ts";
import type { RateLimitBinding, RateLimitRule } from "../domain/rate_limits.ts";
import type { Readiness } from "../domain/wire.ts";
import type { Result } from "../domain/result.ts";
import type { KeptPeople } from "../identity/builtin/kept_people.ts";
import type { IdentityPort } from "../identity/port.ts";
import type { TokenPeople } from "../identity/token_people.ts";
import type { SealedTexts } from "../keys/sealed_text.ts";
import type { KeyRing } from "../keys/signing.ts";
import type { RequestProfile } from "../oauth/social_network.ts";
import type { RequestMetrics, RequestReader } from "../domain/request_metrics.ts";
import type { Payments } from "../payments/payments.ts";
import type { ReadModel } from "../readmodel/queries.ts";
import type { Proof } from "../readmodel/proof.ts";
import type { IssuerTokens } from "../tokens/issuer_token.ts";
import type { LivingCredentials } from "../tokens/living_credentials.ts";
import type { MintPersonalToken } from "../tokens/mint.ts";
import type { OAuthTokens } from "../tokens/oauth_tokens.ts";
import type { PersonalTokens } from "../tokens/personal_token.ts";
import type { SessionTokens } from "../tokens/session_token.ts";
import type { SignTemplateToken } from "../tokens/template_token.ts";
import type { ReadHealth } from "../operations/health.ts";
import type { ReadManual } from "../operations/manual.ts";
import type { KeepOwned } from "../operations/wildcards.ts";

export interface Services extends OAuthTokens {
  readonly config: Config;
  readonly accounts: Accounts;
  readonly account_deletion: AccountDeletion;
  readonly apps: AppRegistry;
  /** Removes wildcard origins over shared hosting suffixes. */
  readonly keepOwned: KeepOwned;
  /** The app registry for operators: reads and writes. */
  readonly app_records: AppRecords;
  readonly app_pauses: AppPauses;
  readonly readManual: ReadManual;
  /** The webhooks of apps, for their owners, and for the engine that delivers to them. */
  readonly webhook_records: WebhookRecords;
  readonly webhooks: Webhooks;
  readonly note_app_key_use: NoteUse;
  /** OAuth clients, and how they authenticate. */
  readonly clients: Clients;
  readonly client_icons: ClientIcons;
  readonly client_authentication: ClientAuthentication;
  readonly note_client_use: NoteUse;
  readonly webhook_engine: WebhookEngine;
  /** For the objects that send. */
  readonly sender_parts: SenderParts;
  readonly deliveries_parts: DeliveriesParts;
  /** OAuth clients and protected resources of apps, for operators. */
  readonly oauth_records: OAuthRecords;
  readonly plan_records: PlanRecords;
  readonly app_icons: AppIcons;
  readonly copyAppIcon: CopyAppIcon;
  /** Reserves a starter grant within the app's daily budget. */
  readonly reserve_starter: ReserveStarter;
  readonly audit: AuditLog;
  /** Null: requests are not counted. */
  readonly request_metrics: RequestMetrics | null;
  readonly requests: RequestReader | null;
  /** What stands for an account in logs and metrics: under each signing key, and under the newest. */
  readonly pseudonymsOf: (identity_id: string) => Promise<readonly string[]>;
  readonly pseudonymOf: (identity_id: string) => Promise<string>;
  /** Bounds the credits that operators with the role support change in a day. */
  readonly support_credits: SupportCredits;
  /** Counts failures that an operator must know of. */
  readonly failures: FailureCounter;
  /** The service's health, for operators. */
  readonly readHealth: ReadHealth;
  /** Queries across accounts, for operators. */
  readonly read_model: ReadModel;
  readonly proof: Proof;
  /** The second copy of the ledger, for operators. Null if the service has none. */
  readonly archive: ArchiveStore | null;
  readonly identity: IdentityPort;
  /** The daily copy of apps and everything else in `DIRECTORY` that is not about people. */
  readonly directory_copy: DirectoryCopy;
  /** The second copy of people. */
  readonly kept_people: KeptPeople;
  readonly keys: KeyRing;
  readonly session_tokens: SessionTokens;
  /** Tokens of trusted issuers, and the people that they are of. */
  readonly issuer_tokens: IssuerTokens;
  readonly token_people: TokenPeople;
  readonly template_tokens: SignTemplateToken;
  /** Users' upstream tokens. A sign-in stores them with `keep`. */
  readonly vault: UpstreamTokenVault;
  /** Reads users' upstream tokens: from the vault, or also from Clerk. */
  readonly upstream_tokens: UpstreamTokenSource;
  /** Null if the settings name no social network. */
  readonly social_network: RequestProfile | null;
  readonly personal_tokens: PersonalTokens;
  readonly mint_personal_token: MintPersonalToken;
  /** The requests that consent pages show and their forms return. */
  readonly consent_forms: SealedTexts;
  readonly device_logins: DeviceLogins;
  readonly device_codes: DeviceCodes;
  readonly request_copies: RequestCopies;
  /** Whether the stores and keys work, now or some seconds ago. */
  readonly readiness: () => Promise<Readiness>;
  readonly limiters: (rule: RateLimitRule<RateLimitBinding>) => RateLimit;
  readonly living_credentials: LivingCredentials;
  /** Null if the service sells no credits. */
  readonly payments: Payments | null;
  readonly payment_booking: PaymentBooking;
  /** Null if the service sells no credits. */
  readonly payment_reconciliation: PaymentReconciliation | null;
}

/** The services of an environment, or what is wrong with its settings. */
export type ServicesFor = (env: Env) => Result<Services, Misconfiguration>;
