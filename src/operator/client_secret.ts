/** Replaces the secret of an OAuth client. */
import type { OnceAnswer } from "../account/contract.ts";
import type { ClientRecord, RegistrationKey } from "../directory/oauth_records.ts";
import { accepted, refused } from "../domain/result.ts";
import type { Acting } from "./acting.ts";
import { performAction, type ActionRequest } from "./audited_action.ts";
import type { SavedRecord } from "./save_record.ts";

interface Replacement extends ActionRequest {
  /** Whether the old secret works for some time too. */
  readonly keeps_old: boolean;
}

/** The secret is null if the same request replaced it before. */
export function replaceSecret(
  acting: Acting,
  client_key: RegistrationKey,
  { keeps_old, ...request }: Replacement,
): Promise<OnceAnswer<SavedRecord<ClientRecord>>> {
  const { oauth_records } = acting.services;
  const action = {
    act: "oauth_client.secret",
    subject: client_key.app_slug,
    details: { client: client_key.id, keeps_old },
    ...request,
  };
  const perform = async (
    audit_id: string,
    is_done: boolean,
  ): Promise<OnceAnswer<SavedRecord<ClientRecord>>> => {
    if (is_done) {
      const client = await oauth_records.findClient(client_key);
      if (client === null) return refused({ code: "client_not_found" });
      return accepted({ value: { record: client, secret: null }, replayed: true });
    }
    const replaced = await oauth_records.replaceSecret(client_key, keeps_old, audit_id);
    if (!replaced.ok) return replaced;
    return accepted({ value: replaced.value, replayed: replaced.value.secret === null });
  };
  return performAction(acting, action, (_, { audit_id, is_done }) => perform(audit_id, is_done));
}
