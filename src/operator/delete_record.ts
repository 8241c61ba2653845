/** Deletes a record of an app: an OAuth client, a resource or a webhook. */
import type { OnceAnswer } from "../account/contract.ts";
import type { RegistrationKey } from "../directory/oauth_records.ts";
import { accepted, refused } from "../domain/result.ts";
import type { Acting } from "./acting.ts";
import { performActionOnce, type ActionRequest } from "./audited_action.ts";

type DeleteRecord = (
  acting: Acting,
  record: RegistrationKey,
  request: ActionRequest,
) => Promise<OnceAnswer<null>>;

/** A record that does not exist leaves no audit record. One that is gone when a request is repeated was deleted by it. */
function deletion(
  act: string,
  { app_slug, id }: RegistrationKey,
  named: "client" | "resource" | "webhook_id",
  done_code: "client_not_found" | "resource_not_found" | "webhook_not_found",
  exists: () => Promise<boolean>,
) {
  const find = async () => ((await exists()) ? accepted(null) : refused({ code: done_code }));
  return { act, subject: app_slug, details: { [named]: id }, find, done_code };
}

export const deleteClient: DeleteRecord = (acting, record, request) => {
  const { oauth_records } = acting.services;
  const exists = async () => (await oauth_records.findClient(record)) !== null;
  const action = deletion("oauth_client.delete", record, "client", "client_not_found", exists);
  return performActionOnce(acting, { ...action, ...request }, () =>
    oauth_records.removeClient(record),
  );
};

export const deleteResource: DeleteRecord = (acting, record, request) => {
  const { oauth_records } = acting.services;
  const exists = async () => (await oauth_records.findResource(record)) !== null;
  const action = deletion("resource.delete", record, "resource", "resource_not_found", exists);
  return performActionOnce(acting, { ...action, ...request }, () =>
    oauth_records.removeResource(record),
  );
};

export const deleteWebhook: DeleteRecord = (acting, record, request) => {
  const { app_slug, id } = record;
  const { webhook_records } = acting.services;
  const exists = async () => (await webhook_records.find(app_slug, id)).ok;
  const action = deletion("app_webhook.delete", record, "webhook_id", "webhook_not_found", exists);
  return performActionOnce(acting, { ...action, ...request }, () =>
    webhook_records.remove(app_slug, id),
  );
};
