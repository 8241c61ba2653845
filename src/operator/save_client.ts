/** Registers an OAuth client of an app, or changes it. */
import type { OnceAnswer } from "../account/contract.ts";
import type { ClientRecord, ClientSettings, RegistrationKey } from "../directory/oauth_records.ts";
import type { Acting } from "./acting.ts";
import { saveRecord, type RecordKind, type SavedRecord, type SaveRequest } from "./save_record.ts";

/** All settings: a save replaces them. `secret`: only if the save made the client confidential. */
export function saveClient(
  acting: Acting,
  key: RegistrationKey,
  settings: ClientSettings,
  request: SaveRequest,
): Promise<OnceAnswer<SavedRecord<ClientRecord>>> {
  const { oauth_records } = acting.services;
  const kind: RecordKind<ClientSettings, ClientRecord> = {
    act: "oauth_client.save",
    subject: key.app_slug,
    details: { client: key.id },
    not_found: { code: "client_not_found" },
    changed: { code: "client_changed" },
    find: () => oauth_records.findClient(key),
    completed: (given) => given,
    settingsOf: ({ name, redirect_uris, public: is_public, ...client }) => ({
      name,
      redirect_uris,
      public: is_public,
      pkce_optional: client.pkce_optional,
      refresh: client.refresh,
    }),
    write: (given, save) => oauth_records.saveClient(key, given, save),
  };
  return saveRecord(acting, kind, settings, request);
}
