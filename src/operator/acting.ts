/** The operator, or the app by its key, that acts, and the services that their actions use. */
import type { Accounts } from "../account/clients/accounts.ts";
import type { ArchiveStore } from "../archive/store.ts";
import type { Config } from "../config/config.ts";
import type { AppPauses } from "../directory/app_pauses.ts";
import type { AppRecords } from "../directory/app_records.ts";
import type { AuditLog } from "../directory/audit.ts";
import type { DirectoryCopy } from "../directory/directory_copy.ts";
import type { OAuthRecords } from "../directory/oauth_records.ts";
import type { PlanRecords } from "../directory/plan_records.ts";
import type { SupportCredits } from "../directory/support_credits.ts";
import type { WebhookRecords } from "../directory/webhook_records.ts";
import type { OperatorRights } from "../domain/operators.ts";
import type { KeptPeople } from "../identity/builtin/kept_people.ts";
import type { IdentityPort } from "../identity/port.ts";
import type { AccountDeletion } from "../operations/account_deletion.ts";
import type { CopyAppIcon } from "../operations/app_icon_copy.ts";
import type { ReadHealth } from "../operations/health.ts";
import type { PaymentReconciliation } from "../operations/payment_reconciliation.ts";
import type { KeepOwned } from "../operations/wildcards.ts";
import type { RequestReader } from "../domain/request_metrics.ts";
import type { Payments } from "../payments/payments.ts";
import type { ReadModel } from "../readmodel/queries.ts";
import type { Proof } from "../readmodel/proof.ts";
import type { WebhookEngine } from "../webhooks/engine.ts";

export interface OperatorServices {
  readonly config: Pick<Config, "dev_signin" | "operators" | "signin_options">;
  readonly accounts: Accounts;
  readonly account_deletion: AccountDeletion;
  readonly audit: AuditLog;
  readonly app_records: AppRecords;
  readonly app_pauses: AppPauses;
  readonly oauth_records: OAuthRecords;
  readonly plan_records: PlanRecords;
  readonly webhook_records: WebhookRecords;
  readonly webhook_engine: WebhookEngine;
  readonly support_credits: SupportCredits;
  readonly identity: IdentityPort;
  readonly read_model: ReadModel;
  readonly proof: Proof;
  readonly archive: ArchiveStore | null;
  readonly directory_copy: DirectoryCopy;
  readonly kept_people: KeptPeople;
  /** Null: credits are not for sale. */
  readonly payments: Pick<Payments, "findBuyer"> | null;
  readonly payment_reconciliation: PaymentReconciliation | null;
  /** Null: the service has no metrics. */
  readonly requests: RequestReader | null;
  /** What stands for an identity in logs and metrics, under each signing key. */
  readonly pseudonymsOf: (identity_id: string) => Promise<readonly string[]>;
  readonly readHealth: ReadHealth;
  readonly copyAppIcon: CopyAppIcon;
  readonly keepOwned: KeepOwned;
}

export interface Acting {
  readonly services: OperatorServices;
  readonly actor: {
    /** The operator's identity, or `app_key:` with the id of the app's key. */
    readonly id: string;
    /** The id of the personal access token that the operator uses; null if they use none. */
    readonly personal_token: string | null;
    /** Null: an app by its key. */
    readonly rights: OperatorRights | null;
  };
  readonly request_id: string;
}
