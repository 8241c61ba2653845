/** Registers a protected resource of an app, or changes it. */
import type { OnceAnswer } from "../account/contract.ts";
import type {
  RegistrationKey,
  ResourceRecord,
  ResourceSettings,
} from "../directory/oauth_records.ts";
import { resourceKey } from "../domain/resource_uri.ts";
import type { Acting } from "./acting.ts";
import { saveRecord, type RecordKind, type SavedRecord, type SaveRequest } from "./save_record.ts";

export function saveResource(
  acting: Acting,
  key: RegistrationKey,
  { uri, scopes }: ResourceSettings,
  request: SaveRequest,
): Promise<OnceAnswer<SavedRecord<ResourceRecord>>> {
  const { oauth_records } = acting.services;
  const kind: RecordKind<ResourceSettings, ResourceRecord> = {
    act: "resource.save",
    subject: key.app_slug,
    details: { resource: key.id },
    not_found: { code: "resource_not_found" },
    changed: { code: "resource_changed" },
    find: () => oauth_records.findResource(key),
    completed: (given) => given,
    settingsOf: (resource) => ({ uri: resource.uri, scopes: resource.scopes }),
    write: (given, save) => oauth_records.saveResource(key, given, save),
  };
  return saveRecord(acting, kind, { uri: resourceKey(uri), scopes }, request);
}
