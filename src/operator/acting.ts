/** The operator, or the app by its key, that acts, and the services that their actions use. */
import type { AppRecords } from "../directory/app_records.ts";
import type { AuditLog } from "../directory/audit.ts";
import type { OAuthRecords } from "../directory/oauth_records.ts";
import type { WebhookRecords } from "../directory/webhook_records.ts";
import type { CopyAppIcon } from "../operations/app_icon_copy.ts";
import type { WebhookEngine } from "../webhooks/engine.ts";

export interface OperatorServices {
  readonly audit: AuditLog;
  readonly app_records: AppRecords;
  readonly oauth_records: OAuthRecords;
  readonly webhook_records: WebhookRecords;
  readonly webhook_engine: Pick<WebhookEngine, "wake">;
  readonly copyAppIcon: CopyAppIcon;
}

export interface Acting<Services = OperatorServices> {
  readonly services: Services;
  readonly actor: {
    /** The operator's identity, or `app_key:` with the id of the app's key. */
    readonly id: string;
    /** The id of the personal access token that the operator uses; null: none. */
    readonly personal_token: string | null;
  };
  readonly request_id: string;
}
